package projections

import (
	"context"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
)

// ErrNoCampaign: no such campaign as of the answer's index.
var ErrNoCampaign = errors.New("projections: no such campaign")

// Limits of a page.
const (
	DefaultPageLimit = 100
	MaxPageLimit     = 1000 // bounds an answer to about a megabyte
)

// Page asks for a part of a list. The zero Page is the first part of the
// default size.
type Page struct {
	Limit int     // 1 to MaxPageLimit; 0 means DefaultPageLimit, more is cut
	After *uint64 // the Next of the page before, nil for the first
}

// Size is the number of items that the page asks for.
func (p Page) Size() int {
	switch {
	case p.Limit <= 0:
		return DefaultPageLimit
	case p.Limit > MaxPageLimit:
		return MaxPageLimit
	}
	return p.Limit
}

// List is a part of a list, as of one ledger index.
type List[T any] struct {
	AsOf  int64   `json:"as_of"` // index of the last decision in the rows, -1 before the first
	Items []T     `json:"items"` // never null
	Next  *uint64 `json:"next"`  // Page.After of the next part, null at the end
}

// One is a single answer, as of one ledger index.
type One[T any] struct {
	AsOf int64 `json:"as_of"`
	Item T     `json:"item"`
}

// CampaignQuery selects campaigns; empty fields select all.
type CampaignQuery struct {
	Status  CampaignStatus
	Verdict domain.VerdictWord
	Page    Page
}

// CellQuery selects cells of one campaign.
type CellQuery struct {
	Campaign   string // required
	ScenarioID string
	Outcome    CellOutcome
	Page       Page
}

// ImportQuery selects imports; empty fields select all.
type ImportQuery struct {
	Campaign       string
	ImportKey      string
	MeasurementKey string
	Page           Page
}

// RejectionQuery selects rejections; empty fields select all.
type RejectionQuery struct {
	Campaign string
	Kind     domain.Kind
	Reason   domain.Reason
	Page     Page
}

// CheckpointQuery selects checkpoints; empty fields select all.
type CheckpointQuery struct {
	Campaign string
	RunID    string
	Outcome  CheckpointOutcome
	Page     Page
}

// UsageQuery selects usage.
type UsageQuery struct {
	Campaign string // "": over all campaigns, each measurement once
	From, To string // days, 2006-01-02, both included; "" for no bound
}

// EntryQuery selects entries; empty fields select all.
type EntryQuery struct {
	Campaign string
	Kind     domain.Kind
	Outcome  domain.Outcome
	Page     Page
}

// Summary counts decisions.
type Summary struct {
	Outcomes map[domain.Outcome]int64 `json:"outcomes"` // decisions by outcome; all four are present
	Reasons  map[domain.Reason]int64  `json:"reasons"`  // rejected decisions by reason
}

// Reader answers queries. Each answer is read in one snapshot with its as_of;
// what another version of the fold made is not served (ErrAnotherVersion).
// Queries that name a campaign which is not open answer ErrNoCampaign, with
// as_of set, except Rejections, Entries and Summary: facts for an unknown
// campaign have decisions too. All may answer ErrUnavailable.
type Reader interface {
	// Position is how far the live views are.
	Position(ctx context.Context) (Position, error)

	// Campaigns lists campaigns, the last opened first. Next is an opening's index.
	Campaigns(ctx context.Context, query CampaignQuery) (List[Campaign], error)
	// Campaign gives one campaign.
	Campaign(ctx context.Context, id string) (One[Campaign], error)
	// Scenarios lists all scenarios of a campaign, in the opening's order.
	Scenarios(ctx context.Context, campaign string) (List[Scenario], error)
	// Cells lists cells in the order of the opening's selection. Next is a position.
	Cells(ctx context.Context, query CellQuery) (List[Cell], error)
	// Imports lists imports by index, voided ones included.
	Imports(ctx context.Context, query ImportQuery) (List[Import], error)
	// Rejections lists rejections by index.
	Rejections(ctx context.Context, query RejectionQuery) (List[Rejection], error)
	// Checkpoints lists checkpoints by index.
	Checkpoints(ctx context.Context, query CheckpointQuery) (List[Checkpoint], error)
	// Usage lists usage by day and model (and campaign, when it names one).
	Usage(ctx context.Context, query UsageQuery) (List[Usage], error)
	// Entries lists entries by index.
	Entries(ctx context.Context, query EntryQuery) (List[Entry], error)
	// SharedMeasurements lists imports, by index, whose measurement several
	// campaigns imported.
	SharedMeasurements(ctx context.Context, page Page) (List[SharedImport], error)
	// Summary counts the decisions on a campaign, or all when it is "".
	Summary(ctx context.Context, campaign string) (One[Summary], error)
}
