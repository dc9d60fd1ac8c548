package observer

import (
	"context"
	"fmt"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// maxLoadedBytes bounds the keys and texts of all records together. Records
// that no read looks at count here too, so that no run can fill the memory.
const maxLoadedBytes = 4 * checkpoint.MaxBytes

// load gives the run's checkpoint; false when it has none yet.
func (l Layout) load(ctx context.Context, tx pgx.Tx, ids claim) (checkpoint.Checkpoint, bool, error) {
	cp := checkpoint.Checkpoint{RunID: strictjson.TextValue(ids["runId"])}
	var found bool
	var err error
	if cp.RecoveryEvidence, found, err = l.evidence(ctx, tx, ids); err != nil || !found {
		return cp, false, err
	}
	cp.Records, err = l.records(ctx, tx, ids)
	return cp, true, err
}

// ofRun is the condition that a row is of the claimed run.
func (l Layout) ofRun() string {
	return fmt.Sprintf("%s = $1 AND %s = $2 AND %s = $3", column(l.CompanyID), column(l.IssueID), column(l.RunID))
}

func (l Layout) evidence(ctx context.Context, tx pgx.Tx, ids claim) (strictjson.Value, bool, error) {
	query := fmt.Sprintf("SELECT coalesce(%s::text, 'null') FROM %s WHERE %s LIMIT 2", column(l.Evidence), table(l.Checkpoints), l.ofRun())
	rows, err := tx.Query(ctx, query, ids["companyId"], ids["issueId"], ids["runId"])
	if err != nil {
		return strictjson.Value{}, false, err
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		return strictjson.Value{}, false, err
	case len(texts) == 0:
		return strictjson.Value{}, false, nil
	case len(texts) > 1:
		return strictjson.Value{}, false, errors.WithHint(errors.Wrapf(ErrAmbiguous, "run %q has more than one checkpoint", ids["runId"]),
			"the checkpoints table is meant to have one row a run")
	}
	// What is no JSON is no evidence, and the projection refuses that.
	evidence, _ := strictjson.Parse([]byte(texts[0]))
	return evidence, true, nil
}

// records loads the records in their order. It stops one past a limit of
// [checkpoint]: that is enough to refuse the read.
func (l Layout) records(ctx context.Context, tx pgx.Tx, ids claim) ([]checkpoint.Record, error) {
	query := fmt.Sprintf("SELECT coalesce(%s::text, ''), coalesce(%s::text, '') FROM %s WHERE %s ORDER BY %s LIMIT %d",
		column(l.Key), column(l.Text), table(l.Records), l.ofRun(), column(l.Order), checkpoint.MaxRecords+1)
	rows, err := tx.Query(ctx, query, ids["companyId"], ids["issueId"], ids["runId"])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var records []checkpoint.Record
	loaded := 0
	for rows.Next() {
		var record checkpoint.Record
		if err := rows.Scan(&record.Key, &record.Text); err != nil {
			return nil, errors.Mark(errors.Wrap(err, "observer: a record"), ErrSchema)
		}
		records = append(records, record)
		if loaded += len(record.Key) + len(record.Text); loaded > maxLoadedBytes {
			return nil, errors.WithHint(errors.Wrapf(ErrTooMuch, "run %q keeps more than %d bytes", ids["runId"], maxLoadedBytes),
				"only header, event and command records decide a read: keep large output elsewhere")
		}
	}
	return records, rows.Err()
}
