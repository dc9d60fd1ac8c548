CREATE TABLE {schema}.campaigns (
	id                 text COLLATE "C" NOT NULL CONSTRAINT campaigns_key PRIMARY KEY,
	status             text COLLATE "C" NOT NULL,
	label              text COLLATE "C" NOT NULL,
	source_revision    text COLLATE "C" NOT NULL,
	verdict            text COLLATE "C" NOT NULL,
	reasons            json NOT NULL,
	scenarios          bigint NOT NULL,
	cells              bigint NOT NULL,
	passed             bigint NOT NULL,
	failed             bigint NOT NULL,
	missing            bigint NOT NULL,
	spent_cost_usd     numeric,
	spent_tokens       numeric,
	spent_reported     bigint NOT NULL,
	spent_cells        bigint NOT NULL,
	effective_cost_usd numeric,
	effective_tokens   numeric,
	effective_reported bigint NOT NULL,
	effective_cells    bigint NOT NULL,
	budget_usd         numeric,
	accepted           bigint NOT NULL,
	opened_index       bigint NOT NULL,
	opened_at          timestamptz NOT NULL,
	last_index         bigint NOT NULL,
	last_at            timestamptz NOT NULL,
	sealed_index       bigint,
	sealed_at          timestamptz,
	sealed_by          text COLLATE "C",
	-- What the fold promises; a row that breaks it would show a wrong verdict.
	CONSTRAINT campaigns_counts CHECK (cells = passed + failed + missing)
);
-- finish
-- Campaigns are listed by it, and a decision opens one.
ALTER TABLE {schema}.campaigns ADD CONSTRAINT campaigns_opening_once UNIQUE (opened_index);
