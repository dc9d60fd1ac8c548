package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/disk"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
	"github.com/ledgerd/ledgerd/store/postgres"
)

// checkTimeout bounds one check: a server that does not answer is a finding.
const checkTimeout = 10 * time.Second

// checkFreeBytes is how much free space a check asks for.
const checkFreeBytes = 1 << 30

// checkClockDrift is how far this machine's clock may be from the database's
// and from what the ledger stored.
const checkClockDrift = 5 * time.Minute

// checkCommand takes the daemon's flags and tries what it would need.
type checkCommand struct {
	serveCommand `embed:""`
}

// Help is shown below the command's flags.
func (checkCommand) Help() string {
	return `Give it the flags, the environment and the --config of the daemon. It changes nothing, and runs beside a daemon too. Exit code 1: at least one check failed.`
}

// checked is the result of one check: an error, or what was found.
type checked struct {
	part  string
	found string
	err   error
}

// Run tries each part that the daemon needs.
func (c *checkCommand) Run(ctx context.Context, streams cli.Streams, log *slog.Logger) error {
	running, runningErr := datadir.ReadConnection(c.DataDir)
	isRunning := runningErr == nil
	results := []checked{
		c.check(ctx, "data directory", c.checkDataDir),
		c.check(ctx, "disk", c.checkDisk),
		c.check(ctx, "credentials", c.checkCredentials),
		c.check(ctx, "signing key", c.checkTreeKey),
		c.check(ctx, "token", func(context.Context) (string, error) { return c.checkToken(log) }),
		c.check(ctx, "HTTP address", func(context.Context) (string, error) {
			return checkAddress("--listen", c.Listen, isRunning, running.HTTPURL)
		}),
		c.check(ctx, "NATS", func(ctx context.Context) (string, error) {
			return c.checkNATS(ctx, isRunning, running.NATSURL, log)
		}),
		c.check(ctx, "views", c.checkViews),
	}
	failed := printChecks(streams, results)
	if failed == 0 {
		return nil
	}
	return errors.Newf("%d of %d checks failed", failed, len(results))
}

func (c *checkCommand) check(ctx context.Context, part string, try func(context.Context) (string, error)) checked {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found, err := try(ctx)
	return checked{part: part, found: found, err: err}
}

// printChecks shows what was found, and gives how many checks failed.
func printChecks(streams cli.Streams, results []checked) (failed int) {
	t := newTable("", "part", "found")
	for _, r := range results {
		if r.err == nil {
			t.AppendRow(table.Row{"ok", r.part, r.found})
			continue
		}
		failed++
		found := text.WrapSoft(r.err.Error(), maxColumn)
		for _, hint := range errors.GetAllHints(r.err) {
			found += "\n" + text.WrapSoft("hint: "+hint, maxColumn)
		}
		t.AppendRow(table.Row{"FAILED", r.part, found})
	}
	fmt.Fprint(streams.Out, render(t))
	return failed
}

func (c *checkCommand) checkDataDir(context.Context) (string, error) {
	info, err := os.Stat(c.DataDir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "not there yet; the daemon makes it", writable(filepath.Dir(filepath.Clean(c.DataDir)))
	case err != nil:
		return "", errors.WithHint(err, "Check --data-dir and the rights of the folders above it.")
	case !info.IsDir():
		return "", errors.WithHintf(errors.Newf("%s is no directory", c.DataDir), "Give --data-dir a directory.")
	}
	if _, err := datadir.ReadConnection(c.DataDir); err == nil {
		return "held by a running daemon", nil
	}
	return "free", writable(c.DataDir)
}

// writable tries to make a file in a directory.
func writable(dir string) error {
	probe, err := os.CreateTemp(dir, ".ledgerd-check-*")
	if err != nil {
		return errors.WithHintf(errors.Wrapf(err, "write in %s", dir), "Give the user that runs ledgerd the right to write there, or another --data-dir.")
	}
	return errors.CombineErrors(probe.Close(), os.Remove(probe.Name()))
}

func (c *checkCommand) checkDisk(context.Context) (string, error) {
	dir := c.DataDir
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Dir(filepath.Clean(dir))
	}
	free, err := disk.Free(dir)
	switch {
	case errors.Is(err, disk.ErrUnknown):
		return "free space is not known on this system", nil
	case err != nil:
		return "", errors.Wrapf(err, "free space of %s", dir)
	case free < checkFreeBytes:
		return "", errors.WithHint(errors.Newf("%d MiB are free in %s", free>>20, dir), "Free some space, or move --data-dir: the ledger refuses arrivals when the disk is full.")
	}
	return fmt.Sprintf("%.1f GiB are free", float64(free)/(1<<30)), nil
}

func (c *checkCommand) checkCredentials(context.Context) (string, error) {
	if c.NATSURL != "" {
		if c.NATSCreds == "" {
			return "none: --nats-url is asked without", nil
		}
		if err := datadir.CheckPrivate(c.NATSCreds); err != nil {
			return "", err
		}
		return c.NATSCreds, nil
	}
	for _, role := range natsdeploy.Outside() {
		err := datadir.CheckPrivate(datadir.CredentialFile(c.DataDir, role))
		if errors.Is(err, os.ErrNotExist) {
			return "not there yet; the daemon makes them", nil
		}
		if err != nil {
			return "", err
		}
	}
	return "one for each role, readable by their owner alone", nil
}

func (c *checkCommand) checkTreeKey(context.Context) (string, error) {
	keys, err := treestore.ReadKeys(c.DataDir)
	switch {
	case errors.Is(err, treestore.ErrNoKeys), errors.Is(err, os.ErrNotExist):
		return "not there yet; the daemon makes one", nil
	case err != nil:
		return "", err
	}
	return "signs as " + keys.Origin(), nil
}

func (c *checkCommand) checkToken(log *slog.Logger) (string, error) {
	token, err := readToken(c.AuthTokenFile, log)
	if err == nil && token == "" {
		return "none: HTTP answers everybody on this machine", nil
	}
	return "readers must bear it", err
}

// checkAddress tries to listen, unless the daemon of the data directory does.
func checkAddress(flag, address string, isRunning bool, daemonURL string) (string, error) {
	if isRunning {
		return "the running daemon listens at " + daemonURL, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", errors.WithHintf(errors.Wrapf(err, "listen on %s", address), "Stop the process that has the port, or give %s another address.", flag)
	}
	return address + " is free", errors.Wrap(listener.Close(), "close the address")
}

func (c *checkCommand) checkNATS(ctx context.Context, isRunning bool, daemonURL string, log *slog.Logger) (string, error) {
	if c.NATSURL == "" {
		return checkAddress("--nats-listen", c.NATSListen, isRunning, daemonURL)
	}
	conn, _, err := natsclient.Connect(ctx, c.Config(natsdeploy.Daemon, "ledgerd check", log))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return checkStreams(ctx, conn)
}

// checkStreams looks for whatever could lose a message of an external server,
// and compares its clock with this machine's.
func checkStreams(ctx context.Context, conn *nats.Conn) (string, error) {
	js, err := natsjs.New(conn)
	if err != nil {
		return "", err
	}
	id, err := ledgerID(ctx, js)
	if err != nil {
		return "", err
	}
	if id == "" {
		return "reached; the daemon makes the streams there", nil
	}
	weaknesses, err := jetstream.Inspect(ctx, js, jetstream.AskSync(ctx, conn))
	if err != nil {
		return "", err
	}
	if len(weaknesses) > 0 {
		return "", errors.WithHintf(errors.Newf("%s: %s", weaknesses[0].Stream, weaknesses[0].Detail),
			"deploy/nats/README.md shows a server without this weakness (%d in all).", len(weaknesses))
	}
	return fmt.Sprintf("ledger %s on %s and %s", id, events.ArrivalsStream, events.LedgerStream), nil
}

func (c *checkCommand) checkViews(ctx context.Context) (string, error) {
	if err := c.viewsStay(); err != nil {
		return "", err
	}
	if c.DatabaseURL == "" {
		return "SQLite in the data directory", nil
	}
	return checkDatabase(ctx, c.DatabaseURL)
}

// checkDatabase reads the database's version, its clock and the daemon's rights.
func checkDatabase(ctx context.Context, url string) (string, error) {
	found, err := postgres.Inspect(ctx, url)
	switch {
	case err != nil:
		return "", err
	case !found.MayCreate:
		return "", errors.WithHintf(errors.Newf("%s may not make a schema in the database", found.User),
			"Grant it: GRANT CREATE ON DATABASE … TO %s.", found.User)
	case found.Clock.Abs() > checkClockDrift:
		return "", errors.WithHint(errors.Newf("the database's clock is %s away from this machine's", found.Clock.Round(time.Second)),
			"Set both clocks by NTP: the days in the views' usage follow the streams' clock.")
	case !found.Reader && !found.MayCreateRole:
		return "", errors.WithHintf(errors.Newf("role %s is missing and %s may not make it", postgres.ReaderRole, found.User),
			"Let an administrator run: CREATE ROLE %s NOLOGIN. People who query the views are then granted that role.", postgres.ReaderRole)
	}
	return fmt.Sprintf("Postgres %s, as %s", found.Version, found.User), nil
}
