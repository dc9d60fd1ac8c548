package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/pgtest"
)

// TestConfigFileRunsTheDaemon: what `config print` prints is a file that the
// daemon runs with.
func TestConfigFileRunsTheDaemon(t *testing.T) {
	dir := t.TempDir()
	printed, stderr, code := runBinary(t, "", "ledgerd", "config", "print", "--data-dir", filepath.Join(dir, "ledger"),
		"--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0", "--nats-store-bytes", "1073741824")
	if code != cli.ExitDone {
		t.Fatalf("code %d, stderr %s", code, stderr)
	}
	file := filepath.Join(dir, "ledgerd.yaml")
	if err := os.WriteFile(file, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := runBinary(t, "", "ledgerd", "check", "--config", file); code != cli.ExitDone {
		t.Errorf("check before the first start: code %d, stderr %s", code, stderr)
	}
	daemon := startProcess(t, "--config", file).awaitReady(t)
	if out, stderr, code := runBinary(t, "", "ledgerd", "check", "--config", file); code != cli.ExitDone || strings.Count(out, "running daemon") != 3 {
		t.Errorf("check beside the daemon: code %d, stdout %s, stderr %s", code, out, stderr)
	}
	if _, stderr, code := runBinary(t, "", "ledgerd", "query", "campaigns", "--config", file); code != cli.ExitDone {
		t.Errorf("query: code %d, stderr %s", code, stderr)
	}
	daemon.stop(t)
}

// TestViewsStayWhereTheyWere: a forgotten --database-url, or one too many, is
// noticed before a second set of views is made.
func TestViewsStayWhereTheyWere(t *testing.T) {
	url := pgtest.Database(t)
	dataDir := t.TempDir()
	free := []string{"--data-dir", dataDir, "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0"}
	inPostgres := append(append([]string{}, free...), "--database-url", url)

	refused := func(args []string) {
		t.Helper()
		for _, command := range []string{"serve", "check"} {
			out, stderr, code := runBinary(t, "", "ledgerd", append([]string{command}, args...)...)
			if code == cli.ExitDone || !strings.Contains(out+stderr, "--move-views") {
				t.Errorf("%s %v: code %d, stdout %s, stderr %s", command, args, code, out, stderr)
			}
		}
	}
	startProcess(t, free...).awaitReady(t).stop(t)
	refused(inPostgres)
	startProcess(t, append(inPostgres, "--move-views")...).awaitReady(t).stop(t)
	startProcess(t, inPostgres...).awaitReady(t).stop(t)
	refused(free)
	startProcess(t, append(free, "--move-views")...).awaitReady(t).stop(t)
}

// TestSecretsStayOutOfErrors: a url that cannot be parsed is never repeated.
func TestSecretsStayOutOfErrors(t *testing.T) {
	for _, url := range []string{
		"postgres://led:ab@SECRET@127.0.0.1:1/led?sslmode=bogus",
		"postgres://led:p@SECRET/w:d@127.0.0.1:1/led?sslmode=bogus",
		"postgres://led:SEC%RET@127.0.0.1:1/led",
		"host=127.0.0.1 port=1 user=led password = SECRET sslmode=bogus",
		"postgres://led:SECRET@127.0.0.1:1/led",
	} {
		for _, command := range [][]string{{"serve"}, {"check"}, {"config", "print"}, {"query", "campaigns"}, {"rebuild"}} {
			args := append(command, "--data-dir", t.TempDir(), "--database-url", url)
			out, stderr, code := runBinary(t, "", "ledgerd", args...)
			if strings.Contains(out+stderr, "SECRET") || strings.Contains(out+stderr, "SEC%RET") {
				t.Errorf("%v: code %d, stdout %s, stderr %s", args, code, out, stderr)
			}
		}
	}
}
