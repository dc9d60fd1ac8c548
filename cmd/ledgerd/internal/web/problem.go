package web

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"

	"github.com/cockroachdb/errors"
	"github.com/danielgtaylor/huma/v2"

	"github.com/ledgerd/ledgerd/projections"
)

// Problem is RFC 9457's problem document.
type Problem struct {
	Type   string              `json:"type" doc:"What kind of problem it is, for machines: urn:ledgerd:problem: and a code that does not change."`
	Title  string              `json:"title" doc:"The status in words."`
	Status int                 `json:"status" doc:"The HTTP status."`
	Detail string              `json:"detail" doc:"What happened, for people."`
	Hint   string              `json:"hint,omitempty" doc:"What can be done about it."`
	AsOf   *int64              `json:"as_of,omitempty" doc:"Ledger index of the last decision in the views, where they were asked; -1 before the first."`
	Errors []*huma.ErrorDetail `json:"errors,omitempty" doc:"What is wrong with the request, one by one."`

	headers http.Header // that go with it
}

// Kinds of problems: the end of Problem.Type, not to be changed.
const (
	problemInvalid      = "invalid_request"
	problemUnauthorized = "unauthorized"
	problemForeignHost  = "foreign_host"
	problemNoCampaign   = "campaign_not_found"
	problemNotFound     = "not_found"
	problemMethod       = "method_not_allowed"
	problemTooLarge     = "request_too_large"
	problemNotReached   = "not_reached"   // ?at= was not reached in time
	problemStopped      = "views_stopped" // ?at= will not be reached
	problemBusy         = "too_many_waiting"
	problemStreams      = "too_many_streams"
	problemEnding       = "shutting_down"
	problemUnavailable  = "views_unavailable"
	problemRebuilding   = "views_rebuilding"
	problemSlow         = "timed_out"
	problemInternal     = "internal"
)

const problemPrefix = "urn:ledgerd:problem:"

func newProblem(status int, kind, detail string) *Problem {
	return &Problem{Type: problemPrefix + kind, Title: http.StatusText(status), Status: status, Detail: detail}
}

// unavailable is a problem that passes by itself.
func unavailable(kind, detail string) *Problem {
	return newProblem(http.StatusServiceUnavailable, kind, detail).with("Retry-After", retryAfter)
}

func (p *Problem) with(header, value string) *Problem {
	if p.headers == nil {
		p.headers = http.Header{}
	}
	p.headers.Set(header, value)
	return p
}

func (p *Problem) asOf(index int64) *Problem { p.AsOf = &index; return p }

// Error, GetStatus, GetHeaders and ContentType are how huma prints it.
func (p *Problem) Error() string           { return p.Detail }
func (p *Problem) GetStatus() int          { return p.Status }
func (p *Problem) GetHeaders() http.Header { return p.headers }
func (p *Problem) ContentType(string) string {
	return "application/problem+json"
}

// asProblem turns what huma says about a request into a Problem.
func asProblem(_ huma.Context, _ string, value any) (any, error) {
	model, ok := value.(*huma.ErrorModel)
	if !ok {
		return value, nil
	}
	kind := problemInvalid
	if model.Status >= http.StatusInternalServerError {
		kind = problemInternal
	}
	problem := newProblem(model.Status, kind, model.Detail)
	problem.Errors = model.Errors
	for _, wrong := range problem.Errors {
		wrong.Value = printable(wrong.Value)
	}
	return problem, nil
}

// printable is a refused value as JSON can hold it: there are no numbers beyond
// the finite ones.
func printable(value any) any {
	if number, ok := value.(float64); ok && (math.IsNaN(number) || math.IsInf(number, 0)) {
		return fmt.Sprint(number)
	}
	return value
}

// writeTo sends the problem outside of huma.
func (p *Problem) writeTo(w http.ResponseWriter) {
	for name, values := range p.headers {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client has gone
}

// explain says why the views gave no answer. What nobody foresaw goes to the
// log, and not to the client.
func (s *server) explain(ctx context.Context, err error) *Problem {
	switch {
	case errors.Is(err, projections.ErrNoCampaign):
		return newProblem(http.StatusNotFound, problemNoCampaign, "there is no such campaign as of this index")
	case errors.Is(err, projections.ErrAnotherVersion):
		problem := unavailable(problemRebuilding, "the views were made by another version and are not served")
		problem.Hint = "the daemon rebuilds them when it starts; /readyz says how far it is"
		return problem
	case errors.Is(err, projections.ErrUnavailable):
		s.Logger.WarnContext(ctx, "the views cannot be read", "error", err)
		return unavailable(problemUnavailable, "the views cannot be read just now")
	case errors.Is(err, context.DeadlineExceeded):
		return unavailable(problemSlow, "the views did not answer in time")
	case errors.Is(err, context.Canceled):
		return unavailable(problemEnding, "the request was ended")
	}
	s.Logger.ErrorContext(ctx, "a query failed", "error", err)
	return newProblem(http.StatusInternalServerError, problemInternal, "the query failed; the daemon's log says why")
}
