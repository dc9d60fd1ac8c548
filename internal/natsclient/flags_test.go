package natsclient_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

// command is one that connects, as in both binaries.
type command struct {
	natsclient.Flags
	seen *natsclient.Config
}

func (c *command) Run(_ context.Context, _ cli.Streams, log *slog.Logger) error {
	*c.seen = c.Config(natsdeploy.Coordinator, "ingest", log)
	return nil
}

// run runs a program with that one command.
func run(t *testing.T, args ...string) (cfg natsclient.Config, code int, stderr string) {
	t.Helper()
	var commands struct {
		Do command `cmd:""`
	}
	commands.Do.seen = &cfg
	var out, errs bytes.Buffer
	code = cli.Program{Name: "test", Commands: &commands}.Run(context.Background(), append([]string{"do"}, args...), cli.Streams{Out: &out, Err: &errs})
	return cfg, code, errs.String()
}

func TestFlags(t *testing.T) {
	for name, row := range map[string]struct {
		env  map[string]string
		args []string
		want natsclient.Config
	}{
		"nothing":          {nil, nil, natsclient.Config{DataDir: natsclient.DefaultDataDir}},
		"directory":        {nil, []string{"--data-dir", "d"}, natsclient.Config{DataDir: "d"}},
		"server":           {nil, []string{"--nats-url", "u", "--nats-creds", "c", "--nats-ca", "a"}, natsclient.Config{DataDir: natsclient.DefaultDataDir, URL: "u", Creds: "c", CA: "a"}},
		"environment":      {map[string]string{"LEDGERD_DATA_DIR": "d", "LEDGERD_NATS_URL": "u", "LEDGERD_NATS_CREDS": "c", "LEDGERD_NATS_CA": "a"}, nil, natsclient.Config{DataDir: "d", URL: "u", Creds: "c", CA: "a"}},
		"flag comes first": {map[string]string{"LEDGERD_DATA_DIR": "d"}, []string{"--data-dir", "e"}, natsclient.Config{DataDir: "e"}},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range row.env {
				t.Setenv(key, value)
			}
			got, code, stderr := run(t, row.args...)
			if code != cli.ExitDone {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if got.Logger == nil || got.Role != natsdeploy.Coordinator || got.Name != "ingest" {
				t.Errorf("%+v", got)
			}
			got.Logger, got.Role, got.Name = nil, "", ""
			if got != row.want {
				t.Errorf("%+v, want %+v", got, row.want)
			}
		})
	}
}

func TestFlagsThatContradict(t *testing.T) {
	for _, args := range [][]string{{"--nats-creds", "c"}, {"--nats-ca", "a", "--data-dir", "d"}} {
		if _, code, stderr := run(t, args...); code != cli.ExitUsage || !strings.Contains(stderr, "need --nats-url") {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}
