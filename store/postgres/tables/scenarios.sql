CREATE TABLE {schema}.scenarios (
	campaign          text COLLATE "C" NOT NULL,
	position          bigint NOT NULL,
	scenario          text COLLATE "C" NOT NULL,
	label             text COLLATE "C" NOT NULL,
	definition_digest text COLLATE "C" NOT NULL,
	grader_digest     text COLLATE "C" NOT NULL,
	cells             bigint NOT NULL,
	passed            bigint NOT NULL,
	failed            bigint NOT NULL,
	missing           bigint NOT NULL,
	CONSTRAINT scenarios_key PRIMARY KEY (campaign, position),
	CONSTRAINT scenarios_counts CHECK (cells = passed + failed + missing)
);
-- finish
