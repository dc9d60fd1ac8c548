CREATE TABLE {campaigns} (
	id                 TEXT PRIMARY KEY,
	status             TEXT NOT NULL,
	label              TEXT NOT NULL,
	source_revision    TEXT NOT NULL,
	verdict            TEXT NOT NULL,
	reasons            TEXT NOT NULL, -- JSON
	scenarios          INTEGER NOT NULL,
	cells              INTEGER NOT NULL,
	passed             INTEGER NOT NULL,
	failed             INTEGER NOT NULL,
	missing            INTEGER NOT NULL,
	voided             INTEGER NOT NULL,
	voided_failed      INTEGER NOT NULL,
	refused            INTEGER NOT NULL,
	refused_failed     INTEGER NOT NULL,
	refused_after_seal INTEGER NOT NULL,
	voids              TEXT NOT NULL, -- JSON
	spent_cost_usd     TEXT, -- decimals are text: SQLite's numbers would round them
	spent_tokens       TEXT,
	spent_reported     INTEGER NOT NULL,
	spent_cells        INTEGER NOT NULL,
	effective_cost_usd TEXT,
	effective_tokens   TEXT,
	effective_reported INTEGER NOT NULL,
	effective_cells    INTEGER NOT NULL,
	budget_usd         TEXT,
	accepted           INTEGER NOT NULL,
	opened_index       INTEGER NOT NULL,
	opened_at          TEXT NOT NULL, -- UTC with microseconds, so that text order is time order
	last_index         INTEGER NOT NULL,
	last_at            TEXT NOT NULL,
	sealed_index       INTEGER,
	sealed_at          TEXT,
	sealed_by          TEXT,
	-- What the fold promises; a row that breaks it would show a wrong verdict.
	CONSTRAINT campaigns_counts CHECK (cells = passed + failed + missing)
) STRICT;
-- finish
-- Campaigns are listed by it, and a decision opens one.
CREATE UNIQUE INDEX campaigns_by_opening{n} ON {campaigns} (opened_index);
