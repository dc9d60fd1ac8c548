package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web"
	"github.com/ledgerd/ledgerd/cmd/ledgerd/internal/web/webtree"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/datadir"
)

// listen opens HTTP's address. What others than this machine can reach needs a
// token.
func listen(address, token string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, cli.Usagef("--listen %q must be host:port", address)
	}
	if ip := net.ParseIP(host); token == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errors.WithHint(cli.Usagef("--listen %q is not on loopback", address),
			"give --auth-token-file a file with a token that readers must bear, or listen on 127.0.0.1")
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, errors.WithHint(errors.Wrapf(err, "listen on %s", address),
			"another process may have the port: give --listen another one, or 127.0.0.1:0 for any")
	}
	return listener, nil
}

// Limits of a token. A shorter one could be guessed.
const (
	minTokenBytes = 16
	maxTokenBytes = 4096
)

// readToken reads the token that whoever asks over HTTP must bear, "" when no
// file is given.
func readToken(file string, log *slog.Logger) (string, error) {
	if file == "" {
		return "", nil
	}
	readable, err := datadir.CheckMounted(file)
	if err != nil {
		return "", err
	}
	if readable {
		log.Warn("others than its owner may read the token", "file", file, "hint", "Mount it with mode 0400 if you can.")
	}
	opened, err := os.Open(file)
	if err != nil {
		return "", errors.Wrap(err, "read --auth-token-file")
	}
	defer opened.Close()
	raw, err := io.ReadAll(io.LimitReader(opened, maxTokenBytes+1))
	if err != nil {
		return "", errors.Wrap(err, "read --auth-token-file")
	}
	token := strings.TrimSpace(string(raw))
	if len(token) < minTokenBytes || len(raw) > maxTokenBytes || strings.ContainsAny(token, " \t\r\n") {
		return "", errors.WithHint(cli.Usagef("--auth-token-file %s holds no token of %d to %d bytes on one line", file, minTokenBytes, maxTokenBytes),
			"make one with: head -c 32 /dev/urandom | base64 > FILE")
	}
	return token, nil
}

func (d *daemon) httpURL() string { return "http://" + d.listener.Addr().String() }

// Limits of the HTTP server.
const (
	httpHeaderTimeout = 5 * time.Second
	httpIdleTimeout   = 2 * time.Minute
	httpMaxHeader     = 64 << 10
	httpStopTimeout   = 5 * time.Second // how long answers that are under way may take at the end
)

func (d *daemon) httpServer() (*http.Server, error) {
	host, _, err := net.SplitHostPort(d.listener.Addr().String())
	if err != nil {
		return nil, errors.Wrap(err, "split the listener's address")
	}
	handler, err := web.New(web.Config{
		Reader:     d.store,
		WaitFor:    d.waitFor,
		Health:     d.health,
		Token:      d.token,
		ListenHost: host,
		LedgerEnd: func(ctx context.Context) (uint64, error) {
			tail, err := d.ledger.Tail(ctx)
			return tail.Last, err
		},
		Metrics: d.metrics.Handler(),
		Routes:  []web.Route{webtree.Route(webtree.Config{Tree: d.tree, Reader: d.store, Logger: d.log})},
		Logger:  d.log,
		Version: cli.Version(),
	})
	if err != nil {
		return nil, err
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: httpHeaderTimeout,
		IdleTimeout:       httpIdleTimeout,
		MaxHeaderBytes:    httpMaxHeader,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(handler.EndStreams)
	return server, nil
}

func (d *daemon) serveHTTP() error {
	if err := d.http.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
		return errors.Wrap(err, "serve HTTP")
	}
	return nil
}

// stopHTTP lets answers finish for a while and then ends them.
func (d *daemon) stopHTTP() {
	ctx, cancel := context.WithTimeout(context.Background(), httpStopTimeout)
	defer cancel()
	if err := d.http.Shutdown(ctx); err != nil {
		_ = d.http.Close()
	}
}

// waitFor waits until the views have the decision at a LEDGER sequence.
func (d *daemon) waitFor(ctx context.Context, seq uint64) error {
	_, err := d.runner.WaitFor(ctx, seq)
	return err
}
