CREATE TABLE {schema}.rejections (
	ledger_index           bigint NOT NULL,
	at                     timestamptz NOT NULL,
	campaign               text COLLATE "C" NOT NULL,
	kind                   text COLLATE "C" NOT NULL,
	reason                 text COLLATE "C" NOT NULL,
	field                  text COLLATE "C" NOT NULL,
	detail                 text COLLATE "C" NOT NULL,
	arrival_id             text COLLATE "C" NOT NULL,
	import_key             text COLLATE "C" NOT NULL,
	-- The provenance of cells, NULL as a whole for everything else.
	repository             text COLLATE "C",
	workflow               text COLLATE "C",
	workflow_ref           text COLLATE "C",
	run_id                 text COLLATE "C",
	run_attempt            bigint,
	artifact_id            text COLLATE "C",
	archive_sha256         text COLLATE "C",
	target_source_revision text COLLATE "C",
	-- What cells claim, NULL where it could not be read and for everything else.
	claimed_slot                   text COLLATE "C",
	claimed_execution_id           text COLLATE "C",
	claimed_measurement_key        text COLLATE "C",
	claimed_status                 text COLLATE "C",
	claimed_cleanup                text COLLATE "C",
	claimed_cost_usd               numeric,
	claimed_tokens                 numeric,
	claimed_coverage               text COLLATE "C",
	claimed_result_sha256          text COLLATE "C"
);
-- finish
ALTER TABLE {schema}.rejections ADD CONSTRAINT rejections_key PRIMARY KEY (ledger_index);
CREATE INDEX rejections_by_campaign ON {schema}.rejections (campaign, ledger_index);
CREATE INDEX rejections_by_reason ON {schema}.rejections (reason, ledger_index);
