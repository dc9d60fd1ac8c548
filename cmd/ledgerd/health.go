package main

import (
	"sync"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
)

// health is what /readyz says. Loops report to it; anybody reads it.
type health struct {
	nats func() error

	mu     sync.Mutex
	loops  []*web.LoopState
	failed error // of the first loop that stopped
}

// loop is one long-running part of the daemon.
type loop struct {
	health  *health
	state   *web.LoopState
	settled chan struct{} // closed when it runs, or cannot
	once    sync.Once
}

// add registers a loop that is starting.
func (h *health) add(name string) *loop {
	h.mu.Lock()
	defer h.mu.Unlock()
	state := &web.LoopState{Name: name, State: web.Starting}
	h.loops = append(h.loops, state)
	return &loop{health: h, state: state, settled: make(chan struct{})}
}

// running says that the loop does its work.
func (l *loop) running() { l.set(web.Running, "") }

// stopped says that the loop cannot go on.
func (l *loop) stopped(err error) {
	l.set(web.Stopped, err.Error())
	l.health.mu.Lock()
	defer l.health.mu.Unlock()
	if l.health.failed == nil {
		l.health.failed = err
	}
}

// failure is why the first loop that stopped could not go on, nil when none did.
func (h *health) failure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed
}

func (l *loop) set(state web.State, detail string) {
	l.health.mu.Lock()
	defer l.health.mu.Unlock()
	l.state.State, l.state.Error = state, detail
	l.once.Do(func() { close(l.settled) })
}

// Ready is false while a loop is starting and when one has stopped; lagging is
// no reason.
func (h *health) Ready() (bool, []web.LoopState) {
	ready := true
	states := []web.LoopState{h.server()}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, state := range h.loops {
		states = append(states, *state)
	}
	for _, state := range states {
		ready = ready && state.State == web.Running
	}
	return ready, states
}

func (h *health) server() web.LoopState {
	state := web.LoopState{Name: "nats", State: web.Running}
	if err := h.nats(); err != nil {
		state.State, state.Error = web.Stopped, err.Error()
	}
	return state
}
