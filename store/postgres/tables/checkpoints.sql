CREATE TABLE {schema}.checkpoints (
	campaign         text COLLATE "C" NOT NULL,
	run_id           text COLLATE "C" NOT NULL,
	turn_id          text COLLATE "C" NOT NULL,
	request_id       text COLLATE "C" NOT NULL,
	outcome          text COLLATE "C" NOT NULL,
	ledger_index     bigint NOT NULL,
	at               timestamptz NOT NULL,
	reason           text COLLATE "C" NOT NULL,
	field            text COLLATE "C" NOT NULL,
	detail           text COLLATE "C" NOT NULL,
	authority        json, -- not jsonb: its digest is over these bytes
	authority_sha256 text COLLATE "C" NOT NULL,
	observed_records bigint NOT NULL,
	observed_bytes   bigint NOT NULL,
	observed_sha256  text COLLATE "C" NOT NULL,
	CONSTRAINT checkpoints_key PRIMARY KEY (campaign, run_id, turn_id, request_id)
);
-- finish
-- A decision is about one read.
ALTER TABLE {schema}.checkpoints ADD CONSTRAINT checkpoints_decision_once UNIQUE (ledger_index);
CREATE INDEX checkpoints_by_campaign ON {schema}.checkpoints (campaign, ledger_index);
