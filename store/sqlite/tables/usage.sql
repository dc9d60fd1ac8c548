CREATE TABLE {usage} (
	campaign           TEXT NOT NULL,
	day                TEXT NOT NULL,
	model              TEXT NOT NULL,
	spent_cost_usd     TEXT,
	spent_tokens       TEXT,
	spent_reported     INTEGER NOT NULL,
	spent_cells        INTEGER NOT NULL,
	effective_cost_usd TEXT,
	effective_tokens   TEXT,
	effective_reported INTEGER NOT NULL,
	effective_cells    INTEGER NOT NULL,
	CONSTRAINT usage_key PRIMARY KEY (campaign, day, model)
) STRICT, WITHOUT ROWID;
-- finish
