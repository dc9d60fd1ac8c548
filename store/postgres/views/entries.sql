CREATE OR REPLACE VIEW ledger.entries AS
SELECT
	ledger_index, at, campaign, kind, outcome, reason, repeats, arrival_id, arrival_sha256, record_sha256
FROM {entries};
COMMENT ON VIEW ledger.entries IS 'The ledger''s index: one row for each decision.';
COMMENT ON COLUMN ledger.entries.ledger_index IS 'index of the decision in the ledger';
COMMENT ON COLUMN ledger.entries.at IS 'when the arrival was stored';
COMMENT ON COLUMN ledger.entries.campaign IS 'campaign id, empty when the subject named none';
COMMENT ON COLUMN ledger.entries.kind IS 'campaign, cell, checkpoint, void or seal, empty when the subject named none';
COMMENT ON COLUMN ledger.entries.outcome IS 'accepted, duplicate, pending or rejected';
COMMENT ON COLUMN ledger.entries.reason IS 'code of the refusal, empty unless rejected';
COMMENT ON COLUMN ledger.entries.repeats IS 'index that a duplicate repeats';
COMMENT ON COLUMN ledger.entries.arrival_id IS 'id of the event';
COMMENT ON COLUMN ledger.entries.arrival_sha256 IS 'SHA-256 of the event''s body';
COMMENT ON COLUMN ledger.entries.record_sha256 IS 'SHA-256 of the decision''s record';
