CREATE TABLE {rejections} (
	ledger_index           INTEGER PRIMARY KEY,
	at                     TEXT NOT NULL,
	campaign               TEXT NOT NULL,
	kind                   TEXT NOT NULL,
	reason                 TEXT NOT NULL,
	field                  TEXT NOT NULL,
	detail                 TEXT NOT NULL,
	arrival_id             TEXT NOT NULL,
	import_key             TEXT NOT NULL,
	-- The provenance of cells, NULL as a whole for everything else.
	repository             TEXT,
	workflow               TEXT,
	workflow_ref           TEXT,
	run_id                 TEXT,
	run_attempt            INTEGER,
	artifact_id            TEXT,
	archive_sha256         TEXT,
	target_source_revision TEXT,
	-- What cells claim, NULL where it could not be read and for everything else.
	claimed_slot                   TEXT,
	claimed_execution_id           TEXT,
	claimed_measurement_key        TEXT,
	claimed_status                 TEXT,
	claimed_cleanup                TEXT,
	claimed_cost_usd               TEXT,
	claimed_tokens                 TEXT,
	claimed_coverage               TEXT,
	claimed_result_sha256          TEXT
) STRICT;
-- finish
CREATE INDEX rejections_by_campaign{n} ON {rejections} (campaign, ledger_index);
CREATE INDEX rejections_by_reason{n} ON {rejections} (reason, ledger_index);
