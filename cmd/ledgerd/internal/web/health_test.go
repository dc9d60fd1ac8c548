package web_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/projections"
)

// readiness is what /readyz answers.
type readiness struct {
	Ready bool
	AsOf  *int64 `json:"as_of"`
	Lag   *int64
	Loops []web.LoopState
}

// TestReadyTellsHowFarTheViewsAre: as_of and lag, and null for what is not
// known; lagging is no reason to be not ready.
func TestReadyTellsHowFarTheViewsAre(t *testing.T) {
	index := func(n int64) *int64 { return &n }
	ends := func(seq uint64, err error) func(context.Context) (uint64, error) {
		return func(context.Context) (uint64, error) { return seq, err }
	}
	for name, row := range map[string]struct {
		upTo      uint64
		end       func(context.Context) (uint64, error)
		asOf, lag *int64
	}{
		"empty":         {0, ends(0, nil), index(-1), index(0)},
		"at the end":    {32, ends(32, nil), index(31), index(0)},
		"behind":        {10, ends(32, nil), index(9), index(22)},
		"not yet begun": {0, ends(32, nil), index(-1), index(32)},
		"shorter":       {32, ends(10, nil), index(31), index(0)},
		"no ledger":     {10, ends(0, errors.New("no route to 10.0.0.1")), index(9), nil},
		"not asked":     {10, nil, index(9), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, row.upTo, func(_ *service, c *web.Config) { c.LedgerEnd = row.end })
			c := readContract(s)
			got := s.get("/readyz")
			c.validate(c.operations()["readyz"], got)
			answer := decode[readiness](s, http.StatusOK, got)
			if !answer.Ready || !same(answer.AsOf, row.asOf) || !same(answer.Lag, row.lag) {
				t.Errorf("%s", got.body)
			}
		})
	}
}

func same(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// TestReadyWithoutViews: neither is known, and the probe is answered.
func TestReadyWithoutViews(t *testing.T) {
	s := serve(t, 32, func(_ *service, c *web.Config) {
		c.LedgerEnd = func(context.Context) (uint64, error) { return 32, nil }
	})
	s.reader.lose(errors.Wrap(projections.ErrUnavailable, "no route"))
	if answer := decode[readiness](s, http.StatusOK, s.get("/readyz")); !answer.Ready || answer.AsOf != nil || answer.Lag != nil {
		t.Errorf("%+v", answer)
	}
}

// TestReadyDoesNotWaitForTheLedger: a ledger that hangs costs a second. The
// clock is synctest's.
func TestReadyDoesNotWaitForTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		handler := bare(t, func(c *web.Config) {
			c.LedgerEnd = func(ctx context.Context) (uint64, error) { <-ctx.Done(); return 0, ctx.Err() }
		})
		if status := ask(handler, "/readyz"); status != http.StatusOK || time.Since(started) != time.Second {
			t.Errorf("status %d after %s", status, time.Since(started))
		}
	})
}
