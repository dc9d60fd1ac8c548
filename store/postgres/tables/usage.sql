CREATE TABLE {schema}.usage (
	campaign           text COLLATE "C" NOT NULL,
	day                text COLLATE "C" NOT NULL, -- a date as text: what readers compare it with may be none
	model              text COLLATE "C" NOT NULL,
	spent_cost_usd     numeric,
	spent_tokens       numeric,
	spent_reported     bigint NOT NULL,
	spent_cells        bigint NOT NULL,
	effective_cost_usd numeric,
	effective_tokens   numeric,
	effective_reported bigint NOT NULL,
	effective_cells    bigint NOT NULL,
	CONSTRAINT usage_key PRIMARY KEY (campaign, day, model)
);
-- finish
