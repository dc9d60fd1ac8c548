-- Where each set of views is: rows and position move in one transaction, guarded
-- by a comparison with this row. Row 'live' is what is read, row 'build' what a
-- rebuild has loaded so far. The view tables themselves are not migrated: they
-- are made for a fold version and rebuilt for the next.

-- +goose Up
CREATE TABLE progress (
	views   TEXT    NOT NULL CONSTRAINT progress_key PRIMARY KEY CONSTRAINT progress_views CHECK (views IN ('live', 'build')),
	version INTEGER NOT NULL, -- of the fold that made the rows
	seq     INTEGER NOT NULL CONSTRAINT progress_seq CHECK (seq >= 0), -- LEDGER sequence of the last decision in the rows
	stream  TEXT    NOT NULL, -- identity of the stream it was read from
	hash    TEXT    NOT NULL, -- of that decision's record
	builds  INTEGER NOT NULL  -- how many builds there were: names of indexes need a number of their own
) STRICT;

-- +goose Down
DROP TABLE progress;
