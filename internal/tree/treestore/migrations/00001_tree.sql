-- The hashes of the ledger's Merkle tree, how far it is, and the heads that
-- were signed.

-- +goose Up
-- One row: it moves in the transaction that writes the hashes, guarded by a
-- comparison with what it was.
CREATE TABLE state (
	one    INTEGER NOT NULL CONSTRAINT state_key PRIMARY KEY CONSTRAINT state_one CHECK (one = 1),
	seq    INTEGER NOT NULL CONSTRAINT state_seq CHECK (seq >= 0), -- LEDGER sequence of the last record in the tree: its size
	stream TEXT    NOT NULL, -- identity of the stream it was read from
	hash   TEXT    NOT NULL, -- SHA-256 of that record
	root   BLOB    NOT NULL CONSTRAINT state_root CHECK (length(root) = 32)
) STRICT;

-- Tile n of a level: 256 hashes, or as many as there are. A tile that is not
-- full is written again when it grows; what it held stays its beginning.
CREATE TABLE tiles (
	level  INTEGER NOT NULL CONSTRAINT tiles_level CHECK (level BETWEEN 0 AND 7),
	n      INTEGER NOT NULL CONSTRAINT tiles_n CHECK (n >= 0),
	hashes BLOB    NOT NULL CONSTRAINT tiles_hashes CHECK (length(hashes) % 32 = 0 AND length(hashes) BETWEEN 32 AND 8192),
	CONSTRAINT tiles_key PRIMARY KEY (level, n)
) STRICT;

-- Heads stay for good, also when the tree is made again: they are what it is
-- then compared with. After a key was changed one size may have two, of one root.
CREATE TABLE heads (
	number    INTEGER NOT NULL CONSTRAINT heads_key PRIMARY KEY, -- in the order of signing
	size      INTEGER NOT NULL CONSTRAINT heads_size CHECK (size >= 0),
	root      BLOB    NOT NULL CONSTRAINT heads_root CHECK (length(root) = 32),
	origin    TEXT    NOT NULL,
	key       TEXT    NOT NULL, -- verifier key of the one that signed
	record    TEXT    NOT NULL, -- SHA-256 of the last record below the head
	signed_at TEXT    NOT NULL, -- UTC
	note      TEXT    NOT NULL, -- as it was signed
	CONSTRAINT heads_once UNIQUE (size, key)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER heads_one_view BEFORE INSERT ON heads
WHEN EXISTS (SELECT 1 FROM heads WHERE size = NEW.size AND root <> NEW.root)
BEGIN
	SELECT RAISE(ABORT, 'another root was signed for this size');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE heads;
DROP TABLE tiles;
DROP TABLE state;
