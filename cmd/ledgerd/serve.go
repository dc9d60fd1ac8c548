package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

type serveCommand struct {
	natsclient.Flags
	Listen        string `default:"127.0.0.1:8080" help:"Where HTTP is served. Port 0 takes a free one."`
	NATSListen    string `name:"nats-listen" default:"127.0.0.1:4222" help:"Where the embedded NATS server listens. Port 0 takes a free one."`
	AuthTokenFile string `placeholder:"FILE" help:"Token that whoever asks over HTTP must bear; needed beyond loopback."`
	DatabaseURL   string `placeholder:"URL" help:"Where the views are kept: postgres://…; empty: SQLite in the data directory."`
	Strict        bool   `help:"Refuse an external NATS server whose streams could lose messages, instead of warning."`
	Replicas      int    `name:"nats-replicas" placeholder:"N" help:"Copies of each stream that is made on an external server (default: 3 on a cluster, else 1)."`
	StoreBytes    int64  `name:"nats-store-bytes" default:"17179869184" help:"Room for both streams when they are made on an external server."`

	RelaxedSync bool `hidden:"" help:"For measurements: the embedded server acknowledges before it syncs."`
}

// Help is shown below the command's flags.
func (serveCommand) Help() string {
	return `Without --nats-url the daemon carries its NATS server in itself, and all state is under --data-dir. It prints one line with its addresses when it is ready. SIGTERM stops it in order; nothing is lost.`
}

// collectPercent is the garbage collector's goal where GOGC does not say
// otherwise. The daemon keeps little and makes much garbage: with Go's own goal
// of 100 collecting takes a sixth of the writer's time.
const collectPercent = 400

func (c *serveCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectPercent)
	}
	d, err := openDaemon(ctx, *c, log)
	if err != nil {
		return err
	}
	d.announced = func() {
		fmt.Fprintf(streams.Out, "ledgerd is ready: http %s, nats %s, data %s\n", d.httpURL(), d.nats.url, d.dir.Path())
	}
	return d.run(ctx)
}
