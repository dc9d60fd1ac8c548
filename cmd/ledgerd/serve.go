package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

type serveCommand struct {
	natsclient.Flags
	Listen        string `default:"127.0.0.1:8080" help:"Where HTTP is served. Port 0 takes a free one."`
	NATSListen    string `name:"nats-listen" default:"127.0.0.1:4222" help:"Where the embedded NATS server listens. Port 0 takes a free one."`
	AuthTokenFile string `placeholder:"FILE" help:"Token that whoever asks over HTTP must bear; needed beyond loopback."`
	DatabaseURL   string `placeholder:"URL" secret:"url" help:"Where the views are kept: postgres://…; empty: SQLite in the data directory."`
	MoveViews     bool   `name:"move-views" help:"Keep the views in another place than before: they are made there from the ledger. The old ones stay and grow stale."`
	Origin        string `placeholder:"NAME" help:"Name of the log in signed tree heads, chosen once, when the first key is made (default: ledgerd.invalid/LEDGER-ID)."`
	Strict        bool   `help:"Refuse an external NATS server whose streams could lose messages, instead of warning."`
	Replicas      int    `name:"nats-replicas" placeholder:"N" help:"Copies of each stream that is made on an external server (default: 3 on a cluster, else 1)."`
	StoreBytes    int64  `name:"nats-store-bytes" default:"17179869184" help:"Room for both streams when they are made on an external server."`

	RelaxedSync bool `hidden:"" help:"For measurements: the embedded server acknowledges before it syncs."`
}

// Help is shown below the command's flags.
func (serveCommand) Help() string {
	return `Without --nats-url the daemon carries its NATS server in itself, and all state is under --data-dir. It prints one line with its addresses when it is ready. SIGTERM stops it in order; nothing is lost.`
}

// Validate is kong's check.
func (c *serveCommand) Validate() error {
	if c.DataDir == "" {
		return errors.Newf("--data-dir is empty; leave it out for %s", natsclient.DefaultDataDir)
	}
	addresses := map[string]string{"--listen": c.Listen}
	if c.NATSURL == "" {
		addresses["--nats-listen"] = c.NATSListen
	}
	for flag, address := range addresses {
		if _, port, err := net.SplitHostPort(address); err != nil || !isPort(port) {
			return errors.Newf("%s must be host:port, like 127.0.0.1:0, and is %q", flag, address)
		}
	}
	return c.Flags.Validate()
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

func (c *serveCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	d, err := openDaemon(ctx, *c, log)
	if err != nil && ctx.Err() != nil {
		log.Info("stopped while starting")
		return nil
	}
	if err != nil {
		return err
	}
	d.announced = func() {
		fmt.Fprintf(streams.Out, "ledgerd is ready: http %s, nats %s, data %s\n", d.httpURL(), d.nats.url, d.dir.Path())
	}
	return d.run(ctx)
}
