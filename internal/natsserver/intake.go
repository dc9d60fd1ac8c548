package natsserver

import (
	"encoding/json"
	"sync"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
)

const (
	// refusedFilter is where arrivals go that are turned away. Within the LEDGER
	// account it is the daemon's alone.
	refusedFilter = "_INBOX_daemon.refused.>"

	// codeNoRoom and statusNoRoom are the server's own for "insufficient storage
	// resources", so that every NATS client knows them.
	codeNoRoom   jetstream.ErrorCode = 10047
	statusNoRoom int                 = 503
)

// intake turns arrivals away without touching their stream: while it refuses,
// the account sends them to this process instead, which answers each with an
// error in the place of an acknowledgement. Its methods but close are called by
// one goroutine.
type intake struct {
	server *Server
	conn   *nats.Conn

	mu     sync.Mutex
	answer []byte // to each arrival that is turned away
}

func newIntake(s *Server) (*intake, error) {
	i := &intake{server: s}
	conn, err := s.InProcess(natsdeploy.Daemon, nats.Name("ledgerd intake"))
	if err != nil {
		return nil, errors.Mark(err, ErrStart)
	}
	i.conn = conn
	if _, err := conn.Subscribe(refusedFilter, i.turnAway); err != nil {
		conn.Close()
		return nil, errors.Wrap(errors.Mark(err, ErrStart), "turn arrivals away")
	}
	return i, nil
}

func (i *intake) close() { i.conn.Close() }

// refuse turns arrivals away from here on, for a reason that producers read.
func (i *intake) refuse(reason string) error {
	answer, err := json.Marshal(map[string]any{
		"stream": events.ArrivalsStream,
		"seq":    0,
		"error":  map[string]any{"code": statusNoRoom, "err_code": codeNoRoom, "description": reason},
	})
	if err != nil {
		return errors.Wrap(err, "word the refusal")
	}
	i.mu.Lock()
	i.answer = answer
	i.mu.Unlock()
	account, err := i.server.running().LookupAccount(natsdeploy.LedgerAccount)
	if err != nil {
		return errors.Wrap(err, "find the ledger's account")
	}
	return errors.Wrap(account.AddMapping(events.ArrivalsFilter, refusedFilter), "turn arrivals away")
}

// accept lets arrivals through again.
func (i *intake) accept() {
	if account, err := i.server.running().LookupAccount(natsdeploy.LedgerAccount); err == nil {
		account.RemoveMapping(events.ArrivalsFilter)
	}
}

func (i *intake) turnAway(m *nats.Msg) {
	i.mu.Lock()
	answer := i.answer
	i.mu.Unlock()
	if m.Reply != "" {
		_ = m.Respond(answer) // who is not answered asks again
	}
}
