-- Where each set of views is, and where its rows lie. Rows and position move in
-- one transaction, guarded by a comparison with this row. Row 'live' is what is
-- read, row 'build' what a rebuild has loaded so far. The tables of the views
-- are not migrated: they are made for a fold version and rebuilt for the next.

-- +goose Up
CREATE TABLE ledger_internal.progress (
	views       text    NOT NULL CONSTRAINT progress_key PRIMARY KEY CONSTRAINT progress_views CHECK (views IN ('live', 'build')),
	version     integer NOT NULL,
	seq         bigint  NOT NULL CONSTRAINT progress_seq CHECK (seq >= 0),
	stream      text    NOT NULL,
	hash        text    NOT NULL,
	generations jsonb   NOT NULL,
	builds      integer NOT NULL
);
COMMENT ON TABLE  ledger_internal.progress IS 'Where the live views and a build are. Do not change it by hand.';
COMMENT ON COLUMN ledger_internal.progress.views IS 'live or build';
COMMENT ON COLUMN ledger_internal.progress.version IS 'version of the fold that made the rows';
COMMENT ON COLUMN ledger_internal.progress.seq IS 'LEDGER sequence of the last decision in the rows';
COMMENT ON COLUMN ledger_internal.progress.stream IS 'identity of the stream that it was read from';
COMMENT ON COLUMN ledger_internal.progress.hash IS 'SHA-256 of that decision''s record';
COMMENT ON COLUMN ledger_internal.progress.generations IS 'number of the generation of each view';
COMMENT ON COLUMN ledger_internal.progress.builds IS 'how many generations there were';

CREATE SCHEMA ledger;
COMMENT ON SCHEMA ledger IS 'Read-only views of the evidence ledger. They are made from the ledger and can be rebuilt from it at any time.';

-- +goose Down
DROP SCHEMA ledger CASCADE;
DROP TABLE ledger_internal.progress;
