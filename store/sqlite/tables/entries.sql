CREATE TABLE {entries} (
	ledger_index   INTEGER PRIMARY KEY,
	at             TEXT NOT NULL,
	campaign       TEXT NOT NULL,
	kind           TEXT NOT NULL,
	outcome        TEXT NOT NULL,
	reason         TEXT NOT NULL,
	repeats        INTEGER,
	arrival_id     TEXT NOT NULL,
	arrival_sha256 TEXT NOT NULL,
	record_sha256  TEXT NOT NULL
) STRICT;
-- finish
CREATE INDEX entries_by_campaign{n} ON {entries} (campaign, ledger_index);
-- Summaries count from this index alone.
CREATE INDEX entries_by_outcome{n} ON {entries} (campaign, outcome, reason);
