package web

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
)

// Config is what New needs. Reader, WaitFor and Health are required.
type Config struct {
	Reader projections.Reader
	// WaitFor waits until the views have applied the decision at a LEDGER
	// sequence. When ctx ends first it gives an error that is ctx's; any other
	// error means that waiting is of no use.
	WaitFor func(ctx context.Context, seq uint64) error
	Health  Health
	// LedgerEnd is the ledger's last sequence, for the lag in /readyz; nil: no
	// lag there. It is asked with a context of at most a second.
	LedgerEnd func(ctx context.Context) (uint64, error)
	Token     string // whoever asks must bear it; "" lets everybody read
	// ListenHost is the host that the daemon listens on. Without a token only
	// requests for it, or for a loopback name, are served.
	ListenHost string
	Metrics    http.Handler // nil: no /metrics
	Routes     []Route      // what other packages serve beside
	Logger     *slog.Logger
	Version    string // of the program, for people

	// For tests; zero is the default.
	Heartbeat time.Duration // between signs of life on an event stream
}

// Limits. A request that is beyond one gets a problem that names it.
const (
	maxURLBytes   = 8 << 10          // keys are at most 512 bytes each, escaped three times that
	maxIndex      = 1<<53 - 1        // what JSON numbers hold everywhere; also said by the schemas
	maxStreams    = 64               // each holds a connection and reads what is new
	maxWaiting    = 1024             // requests that wait for an index
	maxWait       = 30 * time.Second // also said by the schema of `wait`
	defaultWait   = 5 * time.Second  // likewise
	readTimeout   = 10 * time.Second // of one query
	writeTimeout  = 30 * time.Second // for the slowest reader of one answer, or of one event
	answerTimeout = maxWait + readTimeout + writeTimeout

	streamPage       = 500              // entries that a stream reads at once
	defaultHeartbeat = 15 * time.Second // shorter than proxies' usual idle limit of a minute
	reconnectDelay   = 2 * time.Second  // what a stream asks its clients to wait before they come back
	retryAfter       = "2"              // seconds, said with every 503
)

// Handler serves HTTP.
type Handler struct {
	http.Handler
	server *server
}

// server is what the operations share.
type server struct {
	Config
	streams slots
	waiting slots
	ending  context.Context // done when EndStreams was called
	end     context.CancelFunc
}

// New makes the handler.
func New(config Config) (*Handler, error) {
	if config.Reader == nil || config.WaitFor == nil || config.Health == nil {
		return nil, errors.AssertionFailedf("web: reader, wait hook and health are required")
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Heartbeat == 0 {
		config.Heartbeat = defaultHeartbeat
	}
	s := &server{Config: config, streams: newSlots(maxStreams), waiting: newSlots(maxWaiting)}
	s.ending, s.end = context.WithCancel(context.Background())
	mux, err := s.mux()
	if err != nil {
		return nil, err
	}
	guarded, err := s.guard(mux)
	if err != nil {
		return nil, err
	}
	return &Handler{Handler: logged(guarded, config.Logger), server: s}, nil
}

// EndStreams ends the event streams and whoever waits for an index, so that
// http.Server.Shutdown finds nothing that lasts. Give it to
// http.Server.RegisterOnShutdown.
func (h *Handler) EndStreams() { h.server.end() }

// slots bounds how many requests do something long at once.
type slots chan struct{}

func newSlots(n int) slots { return make(slots, n) }

// take reports whether there was a free slot; the taker gives it back.
func (s slots) take() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s slots) give() { <-s }
