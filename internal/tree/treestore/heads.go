package treestore

import (
	"context"
	"database/sql"
	"time"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/tree"
)

// timeLayout orders like time does.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// AddHead keeps a head for good.
func (s *Store) AddHead(ctx context.Context, head tree.KeptHead) error {
	err := s.transact(ctx, "keep a head", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO heads (size, root, origin, key, record, signed_at, note) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (size, key) DO NOTHING`,
			head.Size, head.Root[:], head.Origin, head.Key, head.Record, head.SignedAt.UTC().Format(timeLayout), head.Note)
		if err != nil {
			return err
		}
		return s.fault.At(tree.BeforeHeadCommit)
	})
	if err != nil {
		return err
	}
	// Durable from here. Who does not hear of it signs the same again.
	return s.fault.At(tree.AfterHeadCommit)
}

const headColumns = `SELECT size, root, origin, key, record, signed_at, note FROM heads `

// Heads gives the heads with sizes above after, smallest first.
func (s *Store) Heads(ctx context.Context, after int64, limit int) ([]tree.KeptHead, error) {
	heads, err := s.heads(ctx, headColumns+`WHERE size > ? ORDER BY size, number LIMIT ?`, after, limit)
	return heads, classify(ctx, err, "read heads")
}

// LastHead gives the newest of the largest heads with a size of at most upTo.
func (s *Store) LastHead(ctx context.Context, upTo int64) (tree.KeptHead, error) {
	heads, err := s.heads(ctx, headColumns+`WHERE size <= ? ORDER BY size DESC, number DESC LIMIT 1`, upTo)
	switch {
	case err != nil:
		return tree.KeptHead{}, classify(ctx, err, "read the last head")
	case len(heads) == 0:
		return tree.KeptHead{}, errors.WithHint(errors.Wrapf(tree.ErrNoHead, "of at most %d records", upTo),
			"a daemon signs the first head when it starts")
	}
	return heads[0], nil
}

func (s *Store) heads(ctx context.Context, query string, args ...any) (heads []tree.KeptHead, err error) {
	rows, err := s.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		head, err := scanHead(rows)
		if err != nil {
			return nil, err
		}
		heads = append(heads, head)
	}
	return heads, rows.Err()
}

func scanHead(rows *sql.Rows) (head tree.KeptHead, err error) {
	var root []byte
	var signedAt string
	if err := rows.Scan(&head.Size, &root, &head.Origin, &head.Key, &head.Record, &signedAt, &head.Note); err != nil {
		return head, err
	}
	if len(root) == tlog.HashSize {
		head.Root = tlog.Hash(root)
	}
	head.SignedAt, err = time.Parse(timeLayout, signedAt)
	return head, errors.Wrap(err, "a stored time")
}
