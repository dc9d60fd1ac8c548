-- Every selected slot. There is no foreign key to imports: each view can be
-- rebuilt by itself.
CREATE TABLE {schema}.cells (
	campaign     text COLLATE "C" NOT NULL,
	position     bigint NOT NULL,
	scenario     text COLLATE "C" NOT NULL,
	ordinal      bigint NOT NULL,
	execution_id text COLLATE "C" NOT NULL,
	outcome      text COLLATE "C" NOT NULL,
	import_index bigint,
	CONSTRAINT cells_key PRIMARY KEY (campaign, position),
	CONSTRAINT cells_filled CHECK ((outcome = 'missing') = (import_index IS NULL))
);
-- finish
-- An import fills one slot, and a checkpoint's cells are found from their imports.
ALTER TABLE {schema}.cells ADD CONSTRAINT cells_import_once UNIQUE (import_index);
