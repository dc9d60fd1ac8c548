CREATE TABLE {schema}.entries (
	ledger_index   bigint NOT NULL,
	at             timestamptz NOT NULL,
	campaign       text COLLATE "C" NOT NULL,
	kind           text COLLATE "C" NOT NULL,
	outcome        text COLLATE "C" NOT NULL,
	reason         text COLLATE "C" NOT NULL,
	repeats        bigint,
	arrival_id     text COLLATE "C" NOT NULL,
	arrival_sha256 text COLLATE "C" NOT NULL,
	record_sha256  text COLLATE "C" NOT NULL
);
-- finish
ALTER TABLE {schema}.entries ADD CONSTRAINT entries_key PRIMARY KEY (ledger_index);
CREATE INDEX entries_by_campaign ON {schema}.entries (campaign, ledger_index);
-- Summaries count from this index alone.
CREATE INDEX entries_by_outcome ON {schema}.entries (campaign, outcome, reason);
