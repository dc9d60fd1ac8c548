package projections

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/follow"
)

// Errors of a Store. Test with errors.Is.
var (
	// ErrAnotherVersion: the live views were made by another fold version.
	// They are rebuilt before they are served.
	ErrAnotherVersion = errors.New("projections: the views were made by another version")
	// ErrRebuildRunning: another rebuild holds the lock.
	ErrRebuildRunning = errors.New("projections: a rebuild of these views is running already")
)

// Words of [follow] that the contract of stores is written in.
type (
	Position = follow.Position
	Step     = follow.Step
	Fault    = follow.Fault
)

// Errors of [follow] that stores answer with.
var (
	ErrMoved       = follow.ErrMoved
	ErrUnavailable = follow.ErrUnavailable
)

// Store keeps the views. Implementations: store/sqlite and store/postgres;
// both pass storetest.Conformance. A Store is safe for concurrent use.
//
// Writers and rebuilds may be different processes: all that they agree by is
// in the database.
type Store interface {
	Reader

	// Version is the fold version of the live views. A store that is opened
	// for the first time has empty views of FoldVersion. Errors:
	// ErrUnavailable.
	Version(ctx context.Context) (int, error)

	// Apply writes the changes and moves the position of the live views from
	// from to to, all in one transaction. Errors: ErrMoved when the position is
	// not from, ErrAnotherVersion, ErrUnavailable.
	Apply(ctx context.Context, from, to Position, changes *Changes) error

	// Build starts new, empty views beside the live ones and takes the lock
	// that keeps other rebuilds out. What an earlier build left behind when it
	// crashed is dropped. No views means all of them; live views of another
	// version are rebuilt all together or not at all (ErrAnotherVersion).
	// Errors: ErrRebuildRunning, ErrAnotherVersion, ErrUnavailable.
	Build(ctx context.Context, views ...View) (Build, error)

	// Close releases everything. A Build must be closed before.
	Close() error
}

// Build is a rebuild's half of a store: views that nobody reads yet. It
// belongs to one goroutine.
type Build interface {
	// Load adds changes and moves the build's own position from from to to in
	// one transaction. Changes of views that are not rebuilt are ignored. It
	// takes far larger batches than Apply.
	Load(ctx context.Context, from, to Position, changes *Changes) error

	// Finish makes the constraints and indexes that Load does better without.
	// It is called once; Load goes on working after it.
	Finish(ctx context.Context) error

	// Compare looks at the live views as they are now, at some position; calls
	// catchUp, which loads the build up to exactly that sequence and hash; and
	// compares the rows of every rebuilt view. Live writers and readers go on
	// meanwhile. Error: ErrAnotherVersion when the live views are of one.
	Compare(ctx context.Context, catchUp func(ctx context.Context, live Position) error) (*Comparison, error)

	// Switch makes the rebuilt views the live ones, in one transaction that
	// keeps Apply out: it finds the live position, calls rest for what the
	// build lacks up to there (nothing, mostly), applies that, and switches.
	// Readers see all of the old rows or all of the new ones. rest is given
	// the build's position and the live one and answers the position that the
	// changes lead to. When some views stay as they are, that is the live
	// sequence and hash.
	Switch(ctx context.Context, rest func(ctx context.Context, build, live Position) (Position, *Changes, error)) error

	// Close ends the build and gives the lock back. Unless Switch succeeded
	// everything that was built is dropped.
	Close(ctx context.Context) error
}

// Comparison is what comparing a build with the live views came to.
type Comparison struct {
	At      Position     `json:"at"` // of both
	Digests []ViewDigest `json:"digests"`
}

// Difference is the first difference, nil when there is none.
func (c *Comparison) Difference() *Difference {
	for _, digest := range c.Digests {
		if digest.Difference != nil {
			return digest.Difference
		}
	}
	return nil
}

// ViewDigest is a view's rows in short. Digests can be compared within one
// store only.
type ViewDigest struct {
	View       View        `json:"view"`
	Rows       int64       `json:"rows"` // of the build
	Live       string      `json:"live"`
	Built      string      `json:"built"`
	Difference *Difference `json:"difference"` // nil when Live equals Built
}

// Difference is a row that the live view and the build do not have in common.
type Difference struct {
	View  View   `json:"view"`
	Key   string `json:"key"`   // the row's key, as JSON
	Live  string `json:"live"`  // the row as JSON, "" when the live view lacks it
	Built string `json:"built"` // the row as JSON, "" when the build lacks it
}

// Steps at which a [Fault] is asked.
const (
	BeforeApplyCommit  Step = "before the commit of an apply"
	AfterApplyCommit   Step = "after the commit of an apply"
	BeforeLoadCommit   Step = "before the commit of a load"
	BeforeSwitchCommit Step = "before the commit of a switch"
	AfterSwitchCommit  Step = "after the commit of a switch"
)
