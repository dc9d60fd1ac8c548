CREATE OR REPLACE VIEW ledger.progress AS
SELECT seq - 1 AS as_of, version FROM ledger_internal.progress WHERE views = 'live';
COMMENT ON VIEW ledger.progress IS 'How far the other views are. Read it in the same transaction (REPEATABLE READ) to know what they are as of.';
COMMENT ON COLUMN ledger.progress.as_of IS 'ledger index of the last decision in the views, -1 before the first';
COMMENT ON COLUMN ledger.progress.version IS 'version of the fold that made them';
