package projectionstest

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/projections"
)

// Ledger is a LEDGER stream that is written by arrivals. It belongs to one
// goroutine; its Log may be read by others meanwhile.
type Ledger struct {
	Log       *eventstest.Log
	Decisions []*domain.Decision // by index
	Hashes    []string           // of their records

	t      testing.TB
	states map[string]*domain.Campaign
}

// NewLedger makes an empty ledger.
func NewLedger(t testing.TB) *Ledger {
	return &Ledger{Log: eventstest.NewLedger(), t: t, states: map[string]*domain.Campaign{}}
}

// Last is the sequence of the last decision.
func (l *Ledger) Last() uint64 { return uint64(len(l.Decisions)) }

// Position is the position of views that were folded up to a sequence.
func (l *Ledger) Position(seq uint64) projections.Position {
	l.t.Helper()
	if seq == 0 {
		return projections.Position{}
	}
	identity, err := l.Log.Identity(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return projections.Position{Seq: seq, Stream: identity, Hash: l.Hashes[seq-1]}
}

// Fold gives the changes of the decisions behind from, up to and with to, by a
// new fold.
func (l *Ledger) Fold(from, to uint64) *projections.Changes {
	l.t.Helper()
	fold := projections.NewFold(l.Log)
	for i := from; i < to; i++ {
		if err := fold.Add(l.t.Context(), l.Decisions[i], l.Hashes[i]); err != nil {
			l.t.Fatalf("fold decision %d: %+v", i, err)
		}
	}
	return fold.Take()
}

// Arrive decides an arrival, of which sequence, id, digest and time are filled
// in, and appends the decision.
func (l *Ledger) Arrive(a domain.Arrival) *domain.Decision {
	l.t.Helper()
	a.Seq = l.Last() + 1
	a.ID = fmt.Sprintf("arrival-%d", a.Seq)
	a.SHA256 = digest("arrival", a.ID)
	a.Time = eventstest.TimeOf(a.Seq)
	d, err := domain.Decide(domain.RuleVersion, l.states[a.Campaign], &a)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.Append(d)
}

// Append stores a decision, whose place and chain are filled in.
func (l *Ledger) Append(d *domain.Decision) *domain.Decision {
	l.t.Helper()
	d.Prev = events.GenesisHash
	if n := len(l.Hashes); n > 0 {
		d.Prev = l.Hashes[n-1]
	}
	if d.Accepted != nil && d.CampaignIndex == nil {
		l.chain(d)
	}
	record, err := events.EncodeRecord(d)
	if err != nil {
		l.t.Fatalf("%+v", err)
	}
	if d.Campaign != "" {
		if l.states[d.Campaign], err = domain.Fold(l.states[d.Campaign], d, events.RecordHash(record)); err != nil {
			l.t.Fatalf("%+v", err)
		}
	}
	l.Decisions = append(l.Decisions, d)
	l.Hashes = append(l.Hashes, events.RecordHash(record))
	l.Log.Publish(events.NewDecisionMessage(d, record, "epoch", "host"))
	return d
}

// chain fills in what a decision on an open campaign says of the campaign,
// which refuses no cell.
func (l *Ledger) chain(d *domain.Decision) {
	for i := len(l.Decisions) - 1; i >= 0; i-- {
		if last := l.Decisions[i]; last.Campaign == d.Campaign && last.CampaignIndex != nil {
			index := *last.CampaignIndex + 1
			d.CampaignIndex, d.CampaignPrev = &index, &l.Hashes[i]
			d.Refused, d.RefusedFailed = last.Refused, last.RefusedFailed
			return
		}
	}
	l.t.Fatalf("campaign %s is not open", d.Campaign)
}

// digest is a lower hex SHA-256 of its parts.
func digest(parts ...any) string { return events.RecordHash(fmt.Appendln(nil, parts...)) }

// hexDigits gives n lower hex digits that depend on the parts.
func hexDigits(n int, parts ...any) string { return digest(parts...)[:n] }

// decimalDigits makes digits of parts: CI ids are numbers.
func decimalDigits(parts ...any) string {
	raw, _ := hex.DecodeString(hexDigits(12, parts...))
	return new(big.Int).SetBytes(raw).String()
}
