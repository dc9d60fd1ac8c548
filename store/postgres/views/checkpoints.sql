CREATE OR REPLACE VIEW ledger.checkpoints AS
SELECT c.campaign, c.run_id, c.turn_id, c.request_id, c.outcome, c.ledger_index, c.at, c.reason, c.field, c.detail,
	c.authority, c.authority_sha256, c.observed_records, c.observed_bytes, c.observed_sha256,
	ARRAY(SELECT s.scenario || '/' || s.ordinal FROM {import_runs} AS r JOIN {cells} AS s ON s.import_index = r.ledger_index
		WHERE r.campaign = c.campaign AND r.run_id = c.run_id ORDER BY s.position) AS cells
FROM {checkpoints} AS c;
COMMENT ON VIEW ledger.checkpoints IS 'One row for each checkpoint read: the decision that bound it, else the last one about it.';
COMMENT ON COLUMN ledger.checkpoints.campaign IS 'campaign id';
COMMENT ON COLUMN ledger.checkpoints.run_id IS 'the agent''s run';
COMMENT ON COLUMN ledger.checkpoints.turn_id IS 'the turn';
COMMENT ON COLUMN ledger.checkpoints.request_id IS 'the request';
COMMENT ON COLUMN ledger.checkpoints.outcome IS 'bound, pending or rejected';
COMMENT ON COLUMN ledger.checkpoints.ledger_index IS 'index of the decision in the ledger';
COMMENT ON COLUMN ledger.checkpoints.at IS 'when it arrived';
COMMENT ON COLUMN ledger.checkpoints.reason IS 'code of the refusal, empty unless rejected';
COMMENT ON COLUMN ledger.checkpoints.field IS 'what is wrong, empty unless rejected';
COMMENT ON COLUMN ledger.checkpoints.detail IS 'a sentence for people, empty when bound';
COMMENT ON COLUMN ledger.checkpoints.authority IS 'what was bound, NULL unless bound';
COMMENT ON COLUMN ledger.checkpoints.authority_sha256 IS 'SHA-256 of the authority''s bytes here';
COMMENT ON COLUMN ledger.checkpoints.observed_records IS 'records in the whole checkpoint';
COMMENT ON COLUMN ledger.checkpoints.observed_bytes IS 'bytes in its event and command records';
COMMENT ON COLUMN ledger.checkpoints.observed_sha256 IS 'digest of the whole checkpoint';
COMMENT ON COLUMN ledger.checkpoints.cells IS 'slots (scenario/ordinal) whose import names the run';
