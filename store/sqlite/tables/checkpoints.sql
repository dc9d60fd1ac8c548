CREATE TABLE {checkpoints} (
	campaign         TEXT NOT NULL,
	run_id           TEXT NOT NULL,
	turn_id          TEXT NOT NULL,
	request_id       TEXT NOT NULL,
	outcome          TEXT NOT NULL,
	ledger_index     INTEGER NOT NULL,
	at               TEXT NOT NULL,
	reason           TEXT NOT NULL,
	field            TEXT NOT NULL,
	detail           TEXT NOT NULL,
	authority        TEXT, -- JSON, as its digest was taken
	authority_sha256 TEXT NOT NULL,
	observed_records INTEGER NOT NULL,
	observed_bytes   INTEGER NOT NULL,
	observed_sha256  TEXT NOT NULL,
	CONSTRAINT checkpoints_key PRIMARY KEY (campaign, run_id, turn_id, request_id)
) STRICT;
-- finish
-- A decision is about one read.
CREATE UNIQUE INDEX checkpoints_by_index{n} ON {checkpoints} (ledger_index);
CREATE INDEX checkpoints_by_campaign{n} ON {checkpoints} (campaign, ledger_index);
