CREATE TABLE {scenarios} (
	campaign          TEXT NOT NULL,
	position          INTEGER NOT NULL,
	scenario          TEXT NOT NULL,
	label             TEXT NOT NULL,
	definition_digest TEXT NOT NULL,
	grader_digest     TEXT NOT NULL,
	cells             INTEGER NOT NULL,
	passed            INTEGER NOT NULL,
	failed            INTEGER NOT NULL,
	missing           INTEGER NOT NULL,
	CONSTRAINT scenarios_key PRIMARY KEY (campaign, position),
	CONSTRAINT scenarios_counts CHECK (cells = passed + failed + missing)
) STRICT, WITHOUT ROWID;
-- finish
