CREATE OR REPLACE VIEW ledger.rejections AS
SELECT
	ledger_index, at, campaign, kind, reason, field, detail, arrival_id, import_key, repository, workflow,
	workflow_ref, run_id, run_attempt, artifact_id, archive_sha256, target_source_revision,
	claimed_slot, claimed_execution_id, claimed_measurement_key, claimed_status, claimed_cleanup,
	claimed_cost_usd, claimed_tokens, claimed_coverage, claimed_result_sha256
FROM {rejections};
COMMENT ON VIEW ledger.rejections IS 'One row for each arrival that was refused.';
COMMENT ON COLUMN ledger.rejections.ledger_index IS 'index of the decision in the ledger';
COMMENT ON COLUMN ledger.rejections.at IS 'when it arrived';
COMMENT ON COLUMN ledger.rejections.campaign IS 'campaign id, empty when the subject named none';
COMMENT ON COLUMN ledger.rejections.kind IS 'campaign, cell, checkpoint, void or seal, empty when the subject named none';
COMMENT ON COLUMN ledger.rejections.reason IS 'code of the refusal';
COMMENT ON COLUMN ledger.rejections.field IS 'JSON Pointer to what is wrong, empty for the whole';
COMMENT ON COLUMN ledger.rejections.detail IS 'a sentence for people';
COMMENT ON COLUMN ledger.rejections.arrival_id IS 'id of the event';
COMMENT ON COLUMN ledger.rejections.import_key IS 'import that it was about, empty when unknown';
COMMENT ON COLUMN ledger.rejections.repository IS 'where a cell''s artifact came from; NULL for other kinds';
COMMENT ON COLUMN ledger.rejections.workflow IS 'likewise';
COMMENT ON COLUMN ledger.rejections.workflow_ref IS 'likewise';
COMMENT ON COLUMN ledger.rejections.run_id IS 'likewise';
COMMENT ON COLUMN ledger.rejections.run_attempt IS 'likewise';
COMMENT ON COLUMN ledger.rejections.artifact_id IS 'likewise';
COMMENT ON COLUMN ledger.rejections.archive_sha256 IS 'likewise';
COMMENT ON COLUMN ledger.rejections.target_source_revision IS 'likewise';
COMMENT ON COLUMN ledger.rejections.claimed_slot IS 'slot that a refused cell claims, scenario/ordinal; nobody verified it';
COMMENT ON COLUMN ledger.rejections.claimed_execution_id IS 'likewise, its execution';
COMMENT ON COLUMN ledger.rejections.claimed_measurement_key IS 'likewise, its measurement';
COMMENT ON COLUMN ledger.rejections.claimed_status IS 'likewise, how it ended';
COMMENT ON COLUMN ledger.rejections.claimed_cleanup IS 'likewise, how its cleanup ended';
COMMENT ON COLUMN ledger.rejections.claimed_cost_usd IS 'likewise, its cost in US dollars as it was reported';
COMMENT ON COLUMN ledger.rejections.claimed_tokens IS 'likewise, its tokens as they were reported';
COMMENT ON COLUMN ledger.rejections.claimed_coverage IS 'likewise, how much of the cost is known';
COMMENT ON COLUMN ledger.rejections.claimed_result_sha256 IS 'digest of its result''s bytes';
