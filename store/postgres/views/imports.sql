CREATE OR REPLACE VIEW ledger.imports AS
SELECT
	ledger_index, at, campaign, import_key, measurement_key, scenario, ordinal, execution_id, outcome, status,
	cleanup, case_id, model, day::date AS day, started_at, finished_at, duration_ms, run_ids, tokens, cost_usd,
	coverage, workflow_run_url, run_id, run_attempt, artifact_id, artifact_sha256, result_path, result_sha256,
	host_sha256, definition_sha256, definition_digest, grader_digest, suite_definition_hash, void_index, void_at,
	void_by, void_reason
FROM {imports};
COMMENT ON VIEW ledger.imports IS 'One row for each cell that was ever accepted, voided ones included.';
COMMENT ON COLUMN ledger.imports.ledger_index IS 'index of the decision that accepted it';
COMMENT ON COLUMN ledger.imports.at IS 'when the cell arrived';
COMMENT ON COLUMN ledger.imports.campaign IS 'campaign id';
COMMENT ON COLUMN ledger.imports.import_key IS 'CI run / attempt / execution';
COMMENT ON COLUMN ledger.imports.measurement_key IS 'the framework''s campaign / attempt / execution';
COMMENT ON COLUMN ledger.imports.scenario IS 'scenario id';
COMMENT ON COLUMN ledger.imports.ordinal IS 'which repetition of the scenario';
COMMENT ON COLUMN ledger.imports.execution_id IS 'the execution';
COMMENT ON COLUMN ledger.imports.outcome IS 'passed (status and cleanup) or failed';
COMMENT ON COLUMN ledger.imports.status IS 'the result''s own word';
COMMENT ON COLUMN ledger.imports.cleanup IS 'the result''s word on cleaning up, empty when it says nothing';
COMMENT ON COLUMN ledger.imports.case_id IS 'the framework''s case';
COMMENT ON COLUMN ledger.imports.model IS 'model that was measured';
COMMENT ON COLUMN ledger.imports.day IS 'UTC day on which it finished; usage counts there';
COMMENT ON COLUMN ledger.imports.started_at IS 'as the result writes it';
COMMENT ON COLUMN ledger.imports.finished_at IS 'as the result writes it';
COMMENT ON COLUMN ledger.imports.duration_ms IS 'how long it took, in milliseconds';
COMMENT ON COLUMN ledger.imports.run_ids IS 'runs that the result names; joins checkpoints';
COMMENT ON COLUMN ledger.imports.tokens IS 'NULL when unknown';
COMMENT ON COLUMN ledger.imports.cost_usd IS 'in US dollars, NULL when unknown';
COMMENT ON COLUMN ledger.imports.coverage IS 'the framework''s word on the cost, or unavailable';
COMMENT ON COLUMN ledger.imports.workflow_run_url IS 'the CI run';
COMMENT ON COLUMN ledger.imports.run_id IS 'the CI run''s id';
COMMENT ON COLUMN ledger.imports.run_attempt IS 'the CI run''s attempt';
COMMENT ON COLUMN ledger.imports.artifact_id IS 'the CI artifact';
COMMENT ON COLUMN ledger.imports.artifact_sha256 IS 'SHA-256 of the artifact''s archive';
COMMENT ON COLUMN ledger.imports.result_path IS 'path of the result document';
COMMENT ON COLUMN ledger.imports.result_sha256 IS 'SHA-256 of the result document';
COMMENT ON COLUMN ledger.imports.host_sha256 IS 'SHA-256 of the host document';
COMMENT ON COLUMN ledger.imports.definition_sha256 IS 'SHA-256 of the definition document';
COMMENT ON COLUMN ledger.imports.definition_digest IS 'digest of the scenario''s definition';
COMMENT ON COLUMN ledger.imports.grader_digest IS 'digest of the grader';
COMMENT ON COLUMN ledger.imports.suite_definition_hash IS 'digest of the suite';
COMMENT ON COLUMN ledger.imports.void_index IS 'index of the decision that took it back, NULL while it counts';
COMMENT ON COLUMN ledger.imports.void_at IS 'when that arrived';
COMMENT ON COLUMN ledger.imports.void_by IS 'who took it back';
COMMENT ON COLUMN ledger.imports.void_reason IS 'why';
