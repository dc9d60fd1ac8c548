CREATE OR REPLACE VIEW ledger.cells AS
SELECT s.campaign, s.position, s.scenario, s.ordinal, s.execution_id, s.outcome, s.import_index,
	i.import_key, i.measurement_key, i.status, i.cleanup, i.model, i.day::date AS day, i.duration_ms, i.tokens, i.cost_usd
FROM {cells} AS s LEFT JOIN {imports} AS i ON i.ledger_index = s.import_index;
COMMENT ON VIEW ledger.cells IS 'The grid: one row for each selected slot, with what the import that fills it measured.';
COMMENT ON COLUMN ledger.cells.campaign IS 'campaign id';
COMMENT ON COLUMN ledger.cells.position IS 'place in the opening''s selection, from 0';
COMMENT ON COLUMN ledger.cells.scenario IS 'scenario id';
COMMENT ON COLUMN ledger.cells.ordinal IS 'which repetition of the scenario';
COMMENT ON COLUMN ledger.cells.execution_id IS 'the one execution that may fill the slot';
COMMENT ON COLUMN ledger.cells.outcome IS 'missing, passed or failed';
COMMENT ON COLUMN ledger.cells.import_index IS 'index of the import that fills it, NULL when missing';
COMMENT ON COLUMN ledger.cells.import_key IS 'CI run / attempt / execution';
COMMENT ON COLUMN ledger.cells.measurement_key IS 'the framework''s campaign / attempt / execution';
COMMENT ON COLUMN ledger.cells.status IS 'the result''s own word';
COMMENT ON COLUMN ledger.cells.cleanup IS 'the result''s word on cleaning up';
COMMENT ON COLUMN ledger.cells.model IS 'model that was measured';
COMMENT ON COLUMN ledger.cells.day IS 'UTC day on which it finished';
COMMENT ON COLUMN ledger.cells.duration_ms IS 'how long it took, in milliseconds';
COMMENT ON COLUMN ledger.cells.tokens IS 'NULL when unknown';
COMMENT ON COLUMN ledger.cells.cost_usd IS 'in US dollars, NULL when unknown';
