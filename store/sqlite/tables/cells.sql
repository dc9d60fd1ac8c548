-- Every selected slot. There is no foreign key to imports: each view can be
-- rebuilt by itself.
CREATE TABLE {cells} (
	campaign     TEXT NOT NULL,
	position     INTEGER NOT NULL,
	scenario     TEXT NOT NULL,
	ordinal      INTEGER NOT NULL,
	execution_id TEXT NOT NULL,
	outcome      TEXT NOT NULL,
	import_index INTEGER,
	CONSTRAINT cells_key PRIMARY KEY (campaign, position),
	CONSTRAINT cells_filled CHECK ((outcome = 'missing') = (import_index IS NULL))
) STRICT, WITHOUT ROWID;
-- finish
-- A checkpoint's cells are found from their imports.
CREATE UNIQUE INDEX cells_by_import{n} ON {cells} (import_index) WHERE import_index IS NOT NULL;
