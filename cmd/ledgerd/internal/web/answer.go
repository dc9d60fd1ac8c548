package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/danielgtaylor/huma/v2"

	"github.com/ledgerd/ledgerd/projections"
)

// answer is what a read gives; with Status 304 the body is not printed.
type answer[T any] struct {
	Status       int
	ETag         string `header:"ETag" doc:"Weak: the same as_of and the same query. A rebuild that mended damaged rows keeps it: ask without If-None-Match then."`
	Link         string `header:"Link" doc:"The page behind this one, rel=next."`
	CacheControl string `header:"Cache-Control"`
	Body         T
}

// alwaysAsked lets caches keep an answer, but not give it without asking.
const alwaysAsked = "private, no-cache"

// input is a struct that embeds Freshness.
type input[I any] interface {
	*I
	freshness() *Freshness
}

// list registers an operation that gives a list.
func list[I any, PI input[I], T any](api huma.API, s *server, op huma.Operation, read func(context.Context, *I) (projections.List[T], error)) {
	type List = projections.List[T]
	register[I, PI](api, s, op, read, func(l *List) (int64, *uint64) { return l.AsOf, l.Next })
}

// one registers an operation that gives one item.
func one[I any, PI input[I], T any](api huma.API, s *server, op huma.Operation, read func(context.Context, *I) (projections.One[T], error)) {
	type One = projections.One[T]
	register[I, PI](api, s, op, read, func(o *One) (int64, *uint64) { return o.AsOf, nil })
}

// register registers an operation whose body place says the as_of and the next
// page of.
func register[I any, PI input[I], T any](api huma.API, s *server, op huma.Operation, read func(context.Context, *I) (T, error), place func(*T) (int64, *uint64)) {
	op.Responses["304"] = &huma.Response{Description: "The client has this answer already."}
	huma.Register(api, op, func(ctx context.Context, in *I) (*answer[T], error) {
		fresh := PI(in).freshness()
		if problem := s.reach(ctx, fresh); problem != nil {
			return nil, problem
		}
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		position, err := s.Reader.Position(ctx)
		if err != nil {
			return nil, s.explain(ctx, err)
		}
		out := &answer[T]{Status: http.StatusOK, ETag: s.tag(position, fresh.key()), CacheControl: alwaysAsked}
		if fresh.has(position.AsOf()) && matches(fresh.IfNoneMatch, out.ETag) {
			out.Status = http.StatusNotModified
			return out, nil
		}
		out.Body, err = read(ctx, in)
		asOf, next := place(&out.Body)
		switch {
		case errors.Is(err, projections.ErrNoCampaign):
			return nil, s.explain(ctx, err).asOf(asOf)
		case err != nil:
			return nil, s.explain(ctx, err)
		case !fresh.has(asOf):
			return nil, notReached(fresh, asOf)
		}
		out.Link = fresh.nextLink(next)
		if asOf != position.AsOf() {
			out.ETag = s.tagOf(ctx, asOf, fresh.key()) // the views moved meanwhile
		}
		return out, nil
	})
}

// has reports whether an answer as of an index is new enough.
func (f *Freshness) has(asOf int64) bool {
	return !f.At.Set || asOf >= 0 && uint64(asOf) >= f.At.Value
}

// reach waits until the views have the index that a request asks for.
func (s *server) reach(ctx context.Context, fresh *Freshness) *Problem {
	if !fresh.At.Set {
		return nil
	}
	if !s.waiting.take() {
		return unavailable(problemBusy, fmt.Sprintf("%d requests wait for an index already", maxWaiting))
	}
	defer s.waiting.give()
	waiting, cancel := context.WithTimeout(ctx, fresh.wait())
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	err := s.WaitFor(waiting, fresh.At.Value+1)
	if err == nil {
		return nil
	}
	return s.unreached(ctx, fresh, err)
}

// unreached says why an index was not reached, and where the views are.
func (s *server) unreached(ctx context.Context, fresh *Freshness, err error) *Problem {
	if s.ending.Err() != nil {
		return unavailable(problemEnding, "the daemon is stopping")
	}
	ctx, cancel := context.WithTimeout(ctx, positionTimeout)
	defer cancel()
	position, failed := s.Reader.Position(ctx)
	switch {
	case failed != nil:
		return s.explain(ctx, failed)
	case errors.IsAny(err, context.DeadlineExceeded, context.Canceled):
		return notReached(fresh, position.AsOf())
	}
	problem := unavailable(problemStopped, fmt.Sprintf("the views do not follow the ledger any more and will not reach index %d", fresh.At.Value))
	problem.Hint = "/readyz says why"
	return problem.asOf(position.AsOf())
}

func notReached(fresh *Freshness, asOf int64) *Problem {
	problem := newProblem(http.StatusGatewayTimeout, problemNotReached, fmt.Sprintf("the views did not reach index %d in %s", fresh.At.Value, fresh.wait()))
	problem.Hint = fmt.Sprintf("ask again, or wait longer with wait= (at most %.0f seconds)", maxWait.Seconds())
	return problem.asOf(asOf)
}

// tag makes the ETag of an answer at a position. The record hash is in it, so
// that another ledger of the same length gives other tags; the program's
// version, because another one may print other members. Whether the rows were
// rebuilt is not: a Reader does not say, and rows of one fold at one record are
// the same unless they were damaged.
func (s *server) tag(position projections.Position, key string) string {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%d\n%s", position.Stream, position.Hash, s.Version, projections.FoldVersion, key))
	return fmt.Sprintf(`W/"%d-%s"`, position.AsOf(), hex.EncodeToString(digest[:tagBytes]))
}

// tagBytes keeps two answers of one client from having one tag by chance.
const tagBytes = 12

// tagOf is the tag of an answer as of an index, "" when the views have moved
// on: without a tag an answer is right, only not cached.
func (s *server) tagOf(ctx context.Context, asOf int64, key string) string {
	position, err := s.Reader.Position(ctx)
	if err != nil || position.AsOf() != asOf {
		return ""
	}
	return s.tag(position, key)
}

// matches compares weakly, as If-None-Match wants it (RFC 9110, 13.1.2). "*" is
// not looked at: whether there is an answer at all is not known here.
func matches(ifNoneMatch, tag string) bool {
	for candidate := range strings.SplitSeq(ifNoneMatch, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate != "" && strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
