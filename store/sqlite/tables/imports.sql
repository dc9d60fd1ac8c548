CREATE TABLE {imports} (
	ledger_index          INTEGER PRIMARY KEY,
	at                    TEXT NOT NULL,
	campaign              TEXT NOT NULL,
	import_key            TEXT NOT NULL,
	measurement_key       TEXT NOT NULL,
	scenario              TEXT NOT NULL,
	ordinal               INTEGER NOT NULL,
	execution_id          TEXT NOT NULL,
	outcome               TEXT NOT NULL,
	status                TEXT NOT NULL,
	cleanup               TEXT NOT NULL,
	case_id               TEXT NOT NULL,
	model                 TEXT NOT NULL,
	day                   TEXT NOT NULL,
	started_at            TEXT NOT NULL,
	finished_at           TEXT NOT NULL,
	duration_ms           REAL NOT NULL,
	run_ids               TEXT NOT NULL, -- JSON
	tokens                TEXT,
	cost_usd              TEXT,
	coverage              TEXT NOT NULL,
	workflow_run_url      TEXT NOT NULL,
	run_id                TEXT NOT NULL,
	run_attempt           INTEGER NOT NULL,
	artifact_id           TEXT NOT NULL,
	artifact_sha256       TEXT NOT NULL,
	result_path           TEXT NOT NULL,
	result_sha256         TEXT NOT NULL,
	host_sha256           TEXT NOT NULL,
	definition_sha256     TEXT NOT NULL,
	definition_digest     TEXT NOT NULL,
	grader_digest         TEXT NOT NULL,
	suite_definition_hash TEXT NOT NULL,
	void_index            INTEGER,
	void_at               TEXT,
	void_by               TEXT,
	void_reason           TEXT
) STRICT;
-- The runs that an import names, so that checkpoints find their cells.
CREATE TABLE {import_runs} (
	campaign     TEXT NOT NULL,
	run_id       TEXT NOT NULL,
	ledger_index INTEGER NOT NULL,
	CONSTRAINT import_runs_key PRIMARY KEY (campaign, run_id, ledger_index)
) STRICT, WITHOUT ROWID;
-- finish
-- An import key and a measurement key are used once in a campaign, even when
-- their import was voided. The keys come first: people look for them alone.
CREATE UNIQUE INDEX imports_import_key_once{n} ON {imports} (import_key, campaign);
CREATE UNIQUE INDEX imports_measurement_key_once{n} ON {imports} (measurement_key, campaign);
-- One import a slot; a void frees it.
CREATE UNIQUE INDEX imports_slot_once{n} ON {imports} (campaign, scenario, ordinal) WHERE void_index IS NULL;
CREATE INDEX imports_by_campaign{n} ON {imports} (campaign, ledger_index);
