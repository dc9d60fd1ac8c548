package observer

import (
	"context"
	"strconv"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Observer reads checkpoints from one runner's database. It holds at most one
// connection and is for one goroutine at a time.
type Observer struct {
	config     Config
	settings   *pgx.ConnConfig
	connection *pgx.Conn // nil: the next read connects
}

// Reading is what one read found.
type Reading struct {
	Result checkpoint.Result
	// Read is what an arrival carries: the claim, the slice that decides it and
	// what the whole was. Nil while the run has no checkpoint at all.
	Read *domain.CheckpointRead
}

// Final reports whether reading again could change nothing for the better.
func (r Reading) Final() bool { return r.Result.Outcome != checkpoint.Pending }

// New makes an observer. It connects when it first reads, so that a database
// that is away now is one that a read is tried again for. Errors: ErrConfig.
func New(config Config) (*Observer, error) {
	settings, err := config.connection()
	if err != nil {
		return nil, err
	}
	if config.StatementTimeout == 0 {
		config.StatementTimeout = StatementTimeout
	}
	return &Observer{config: config, settings: settings}, nil
}

func (o *Observer) connect(ctx context.Context) error {
	if o.connection != nil && !o.connection.IsClosed() {
		return nil
	}
	o.drop()
	connection, err := pgx.ConnectConfig(ctx, o.settings)
	if err != nil {
		return classify(ctx, nil, err)
	}
	o.connection = connection
	return nil
}

// drop lets go of a connection, and waits until it is gone.
func (o *Observer) drop() {
	if o.connection == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), ConnectTimeout)
	defer cancel()
	_ = o.connection.Close(ctx) // nothing was written that could be lost
	<-o.connection.PgConn().CleanupDone()
	o.connection = nil
}

// Close ends the connection.
func (o *Observer) Close() { o.drop() }

// Read answers a claim from what the database holds now. It connects when
// there is no connection, or none anymore. See the package's errors; a contradiction is no error but
// a rejected [Reading].
func (o *Observer) Read(ctx context.Context, publication checkpoint.Publication) (Reading, error) {
	ids, err := newClaim(publication)
	if err != nil {
		return Reading{}, err
	}
	limited, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	if err := o.connect(limited); err != nil {
		return Reading{}, o.timedOut(ctx, err)
	}
	var seen snapshot
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(limited, o.connection, options, func(tx pgx.Tx) error {
		var err error
		seen, err = o.look(limited, tx, ids)
		return err
	})
	if err != nil {
		err = o.timedOut(ctx, classify(limited, o.connection, err))
		if o.connection.IsClosed() {
			o.drop()
		}
		return Reading{}, err
	}
	return o.project(publication, seen), nil
}

// timedOut tells a server that fell silent from a caller that gave up.
func (o *Observer) timedOut(caller context.Context, err error) error {
	if caller.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return unavailable(err)
	}
	return err
}

// snapshot is what one transaction saw.
type snapshot struct {
	workspaceID string
	checkpoint  checkpoint.Checkpoint
	found       bool
}

// look reads within the transaction. Its first query takes the snapshot that
// the others see too.
func (o *Observer) look(ctx context.Context, tx pgx.Tx, ids claim) (snapshot, error) {
	limit := strconv.FormatInt(o.config.StatementTimeout.Milliseconds(), 10) // milliseconds without a unit
	if _, err := tx.Exec(ctx, "SELECT set_config('statement_timeout', $1, true)", limit); err != nil {
		return snapshot{}, err
	}
	owner, err := prove(ctx, tx, ids)
	if err != nil {
		return snapshot{}, err
	}
	cp, found, err := o.config.Layout.load(ctx, tx, ids)
	return snapshot{workspaceID: owner.workspaceID, checkpoint: cp, found: found}, err
}

func (o *Observer) project(publication checkpoint.Publication, seen snapshot) Reading {
	if !seen.found {
		return Reading{Result: checkpoint.Result{Outcome: checkpoint.Pending, Message: "the run has no checkpoint yet"}}
	}
	workspace := strictjson.TextValue(seen.workspaceID)
	examined := checkpoint.Examine(seen.checkpoint, publication, workspace, o.config.Profile)
	return Reading{Result: examined.Result, Read: &domain.CheckpointRead{
		Publication:          publication,
		ExecutionWorkspaceID: workspace,
		Checkpoint:           examined.Slice,
		Observed:             examined.Observed,
	}}
}

// timer waits for a while, or until ctx ends.
func timer(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
