package web

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Health tells how the daemon's loops are. It is asked by many goroutines and
// must not block.
type Health interface {
	// Ready is false while a loop is starting and when one has stopped. A loop
	// that lags is no reason.
	Ready() (bool, []LoopState)
}

// LoopState is what one long-running part of the daemon does.
type LoopState struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Error string `json:"error"` // why it stopped; "" to who bears no token
}

// State is what a loop is at.
type State string

// The states of a loop.
const (
	Starting State = "starting"
	Running  State = "running"
	Stopped  State = "stopped"
)

// alive is the answer of /healthz.
type alive struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
}

// readiness is the answer of /readyz.
type readiness struct {
	Ready   bool        `json:"ready"`
	AsOf    *int64      `json:"as_of"` // null when the views cannot be read just now
	Lag     *int64      `json:"lag"`   // null when it is not known just now
	Version string      `json:"version"`
	Loops   []LoopState `json:"loops"`
}

// positionTimeout is short, because probes are: as_of and lag are extras there.
const positionTimeout = time.Second

// neverStored is the cache rule of answers that are about this moment.
const neverStored = "no-store"

type aliveAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         alive
}

type readinessAnswer struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         readiness
}

func (s *server) healthOperations(api huma.API) {
	huma.Register(api, open(operation("healthz", "/healthz", "daemon", "Whether the process answers")),
		func(context.Context, *struct{}) (*aliveAnswer, error) {
			return &aliveAnswer{CacheControl: neverStored, Body: alive{Status: "ok", Version: s.Version}}, nil
		})
	op := open(operation("readyz", "/readyz", "daemon", "Whether every part of the daemon runs"))
	op.Description = "503 while a part is starting or has stopped; one that lags is ready. Why a part stopped is told to who may read."
	op.Responses["503"] = response[readiness](api, "A part of the daemon does not run.")
	huma.Register(api, op, s.ready)
}

// reader is who asks for /readyz.
type readyInput struct {
	Authorization string `header:"Authorization" hidden:"true"`
}

func (s *server) ready(ctx context.Context, in *readyInput) (*readinessAnswer, error) {
	ready, loops := s.Health.Ready()
	answer := &readinessAnswer{Status: http.StatusOK, CacheControl: neverStored, Body: readiness{Ready: ready, Version: s.Version, Loops: []LoopState{}}}
	if !ready {
		answer.Status = http.StatusServiceUnavailable
	}
	for _, loop := range loops {
		if !s.mayRead(in.Authorization) {
			loop.Error = ""
		}
		answer.Body.Loops = append(answer.Body.Loops, loop)
	}
	answer.Body.AsOf, answer.Body.Lag = s.progress(ctx)
	return answer, nil
}

// progress is how far the views are, and how many decisions they lack; nil for
// what cannot be told in time.
func (s *server) progress(ctx context.Context) (asOf, lag *int64) {
	ctx, cancel := context.WithTimeout(ctx, positionTimeout)
	defer cancel()
	position, err := s.Reader.Position(ctx)
	if err != nil {
		return nil, nil
	}
	index := position.AsOf()
	if s.LedgerEnd == nil {
		return &index, nil
	}
	end, err := s.LedgerEnd(ctx)
	if err != nil {
		return &index, nil
	}
	behind := int64(end - min(end, position.Seq)) // a ledger that was put back may be shorter
	return &index, &behind
}
