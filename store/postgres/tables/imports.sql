CREATE TABLE {schema}.imports (
	ledger_index          bigint NOT NULL CONSTRAINT imports_key PRIMARY KEY,
	at                    timestamptz NOT NULL,
	campaign              text COLLATE "C" NOT NULL,
	import_key            text COLLATE "C" NOT NULL,
	measurement_key       text COLLATE "C" NOT NULL,
	scenario              text COLLATE "C" NOT NULL,
	ordinal               bigint NOT NULL,
	execution_id          text COLLATE "C" NOT NULL,
	outcome               text COLLATE "C" NOT NULL,
	status                text COLLATE "C" NOT NULL,
	cleanup               text COLLATE "C" NOT NULL,
	case_id               text COLLATE "C" NOT NULL,
	model                 text COLLATE "C" NOT NULL,
	day                   text COLLATE "C" NOT NULL, -- a date as text: what readers compare it with may be none
	started_at            text COLLATE "C" NOT NULL,
	finished_at           text COLLATE "C" NOT NULL,
	duration_ms           double precision NOT NULL,
	run_ids               text[] COLLATE "C" NOT NULL,
	tokens                numeric,
	cost_usd              numeric,
	coverage              text COLLATE "C" NOT NULL,
	workflow_run_url      text COLLATE "C" NOT NULL,
	run_id                text COLLATE "C" NOT NULL,
	run_attempt           bigint NOT NULL,
	artifact_id           text COLLATE "C" NOT NULL,
	artifact_sha256       text COLLATE "C" NOT NULL,
	result_path           text COLLATE "C" NOT NULL,
	result_sha256         text COLLATE "C" NOT NULL,
	host_sha256           text COLLATE "C" NOT NULL,
	definition_sha256     text COLLATE "C" NOT NULL,
	definition_digest     text COLLATE "C" NOT NULL,
	grader_digest         text COLLATE "C" NOT NULL,
	suite_definition_hash text COLLATE "C" NOT NULL,
	void_index            bigint,
	void_at               timestamptz,
	void_by               text COLLATE "C",
	void_reason           text COLLATE "C",
	CONSTRAINT imports_void CHECK (num_nulls(void_index, void_at, void_by, void_reason) IN (0, 4))
);
-- The runs that an import names, so that checkpoints find their cells.
CREATE TABLE {schema}.import_runs (
	campaign     text COLLATE "C" NOT NULL,
	run_id       text COLLATE "C" NOT NULL,
	ledger_index bigint NOT NULL
);
-- finish
ALTER TABLE {schema}.import_runs ADD CONSTRAINT import_runs_key PRIMARY KEY (campaign, run_id, ledger_index);
-- An import key and a measurement key are used once in a campaign, even when
-- their import was voided. The keys come first: people look for them alone.
ALTER TABLE {schema}.imports ADD CONSTRAINT imports_import_key_once UNIQUE (import_key, campaign);
ALTER TABLE {schema}.imports ADD CONSTRAINT imports_measurement_key_once UNIQUE (measurement_key, campaign);
-- One import a slot; a void frees it.
CREATE UNIQUE INDEX imports_slot_once ON {schema}.imports (campaign, scenario, ordinal) WHERE void_index IS NULL;
CREATE INDEX imports_by_campaign ON {schema}.imports (campaign, ledger_index);
