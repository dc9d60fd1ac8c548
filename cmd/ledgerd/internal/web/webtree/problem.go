package webtree

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/projections"
)

// refusal is a problem with headers of its own.
type refusal struct {
	*web.Problem
	headers http.Header
}

// GetHeaders is how huma sends them.
func (r *refusal) GetHeaders() http.Header { return r.headers }

func refuse(status int, kind, detail, hint string) *refusal {
	problem := web.NewProblem(status, kind, detail)
	problem.Hint = hint
	return &refusal{Problem: problem}
}

// away is a problem that passes by itself.
func away(kind, detail string) *refusal {
	r := refuse(http.StatusServiceUnavailable, kind, detail, "")
	r.headers = http.Header{"Retry-After": {retryAfter}}
	return r
}

// writeTo sends the problem outside of huma.
func (r *refusal) writeTo(w http.ResponseWriter) {
	for name, values := range r.headers {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", r.ContentType(""))
	w.WriteHeader(r.Status)
	_ = json.NewEncoder(w).Encode(r.Problem) // the client has gone
}

// reach waits until a signed head covers the index that a request asks for.
func (s *server) reach(ctx context.Context, fresh *web.Freshness) *refusal {
	if !fresh.At.Set {
		return nil
	}
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		return away(problemBusy, "too many requests wait for a tree head already")
	}
	wait := time.Duration(fresh.Wait * float64(time.Second))
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	head, err := s.Tree.WaitForHead(ctx, int64(fresh.At.Value)+1)
	switch {
	case err == nil:
		return nil
	case errors.IsAny(err, context.DeadlineExceeded, context.Canceled):
		r := refuse(http.StatusGatewayTimeout, problemReached, "no signed tree head covered the index in "+wait.String(),
			"ask again, or wait longer with wait= (at most 30 seconds)")
		asOf := head.Size - 1
		r.AsOf = &asOf
		return r
	}
	return away(problemStopped, "the tree does not follow the ledger any more; /readyz says why")
}

// explain says why there is no answer. What nobody foresaw goes to the log,
// and not to the client.
func (s *server) explain(ctx context.Context, err error) *refusal {
	var known *refusal
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, tree.ErrNoHead):
		return away(problemNoHead, "no tree head is signed yet")
	case errors.Is(err, tree.ErrBeyondHead):
		return refuse(http.StatusNotFound, problemBeyond, err.Error(), "ask with at= and the index to wait for a head that covers it")
	case errors.Is(err, tree.ErrNoTile):
		return refuse(http.StatusNotFound, problemNotFound, err.Error(), "read /checkpoint first: its size says which tiles there are")
	case errors.Is(err, tree.ErrEntryTooLarge):
		return refuse(http.StatusNotFound, problemTooLarge, err.Error(),
			"the format of entry bundles has no place for it; read the bundle's records one by one at /v1/records/{index}")
	case errors.IsAny(err, tree.ErrTreeDamaged, tree.ErrRewritten, tree.ErrKeyUnknown):
		s.Logger.ErrorContext(ctx, "the tree cannot prove what it was asked for", "error", err, "hint", errors.FlattenHints(err))
		return refuse(http.StatusInternalServerError, problemDamaged, "the tree cannot prove this; the daemon's log says why", "")
	case errors.IsAny(err, context.DeadlineExceeded, context.Canceled):
		return away(problemSlow, "there was no answer in time")
	case errors.IsAny(err, projections.ErrUnavailable, events.ErrUnavailable):
		s.Logger.WarnContext(ctx, "the tree cannot be read", "error", err)
		return away(problemAway, "the tree cannot be read just now")
	}
	s.Logger.ErrorContext(ctx, "a question to the tree failed", "error", err)
	return refuse(http.StatusInternalServerError, problemInternal, "the question failed; the daemon's log says why", "")
}
