package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/ledgerd/ledgerd/internal/cli"
)

// configured is a program whose command run may be set by a file.
type configured struct {
	Run   settingsCommand `cmd:"" help:"Show the settings."`
	Other otherCommand    `cmd:"" help:"Another command."`
}

type settingsCommand struct {
	Size  int    `default:"1" help:"How large."`
	Tone  string `enum:"kind,cool" default:"kind" help:"How it sounds."`
	Quiet bool   `help:"Say less."`
	Where string `secret:"url" help:"An address."`
}

func (settingsCommand) Run(parsed *kong.Context, file *cli.Config, streams cli.Streams) error {
	for _, s := range cli.Settings(parsed, file) {
		fmt.Fprintf(streams.Out, "%s=%v from %s\n", s.Name, s.Value, filepath.Base(s.From))
	}
	return nil
}

type otherCommand struct {
	Size   int    `default:"1" help:"How large."`
	Filter string `help:"What is shown."`
}

func (c otherCommand) Run(_ context.Context, streams cli.Streams) error {
	fmt.Fprintln(streams.Out, c.Size, c.Filter)
	return nil
}

func runConfigured(t *testing.T, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	program := cli.Program{Name: "tester", Commands: &configured{}, Configured: "run"}
	code := program.Run(t.Context(), args, cli.Streams{Out: &out, Err: &err})
	return ran{code: code, out: out.String(), err: err.String()}
}

func configFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSettingsSayWhereTheyComeFrom(t *testing.T) {
	file := configFile(t, "# a comment\nsize: 3\nquiet: true\ntone: cool\nwhere: nats://ana:secret@host:1\n")
	t.Setenv("LEDGERD_TONE", "kind")
	got := runConfigured(t, "run", "--config", file, "--no-quiet")
	if got.code == cli.ExitDone {
		t.Fatal("--no-quiet is no flag of this program")
	}
	runConfigured(t, "run", "--config", file, "--size=9").want(t, ran{cli.ExitDone,
		"log-level=info from default\nlog-format=text from default\nsize=9 from command line\ntone=kind from LEDGERD_TONE\n" +
			"quiet=true from c.yaml:3\nwhere=nats://ana:xxxxx@host:1 from c.yaml:5\n", ""})
	t.Setenv("LEDGERD_CONFIG", file)
	runConfigured(t, "other").want(t, ran{cli.ExitDone, "3 \n", ""})
	runConfigured(t, "other", "--config="+configFile(t, "")).want(t, ran{cli.ExitDone, "1 \n", ""})
}

func TestWrongConfigurationIsRefusedWithItsPlace(t *testing.T) {
	for name, row := range map[string]struct{ content, place string }{
		"unknown member":       {"size: 1\nsiez: 2\n", ":2:1: "},
		"of another command":   {"filter: x\n", ":1:1: "},
		"the file's own flag":  {"config: x\n", ":1:1: "},
		"twice":                {"size: 1\ntone: kind\nsize: 2\n", ":3:1: "},
		"no number":            {"size: many\n", ":1:7: "},
		"no word of the enum":  {"tone: loud\n", ":1:7: "},
		"no level":             {"log-level: loud\n", ":1:12: "},
		"a list":               {"size: [1, 2]\n", ":1:7: "},
		"no value":             {"size:\n", ":1:1: "},
		"no mapping":           {"- size\n", ":1:1: "},
		"two documents":        {"size: 1\n---\nsize: 2\n", ""},
		"no YAML":              {"size: \"1\n", ""},
		"an alias of a secret": {"size: &a 1\ntone: *a\n", ":2:7: "},
	} {
		t.Run(name, func(t *testing.T) {
			file := configFile(t, row.content)
			got := runConfigured(t, "run", "--config", file)
			if got.code != cli.ExitUsage || got.out != "" || !strings.HasPrefix(got.err, "tester: "+file+row.place) {
				t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
			}
		})
	}
}

func TestConfigurationFileHasToBeThere(t *testing.T) {
	for name, args := range map[string][]string{
		"missing":   {"run", "--config", filepath.Join(t.TempDir(), "none.yaml")},
		"unnamed":   {"run", "--config"},
		"a folder":  {"run", "--config", t.TempDir()},
		"too large": {"run", "--config", configFile(t, "#"+strings.Repeat("x", cli.MaxConfigBytes))},
	} {
		if got := runConfigured(t, args...); got.code != cli.ExitUsage || got.out != "" {
			t.Errorf("%s: code %d, out %q, err %q", name, got.code, got.out, got.err)
		}
	}
	largest := configFile(t, "#"+strings.Repeat("x", cli.MaxConfigBytes-1))
	if got := runConfigured(t, "other", "--config", largest); got.code != cli.ExitDone {
		t.Errorf("a file of the largest size: code %d, err %q", got.code, got.err)
	}
}

func TestPasswordsAreNotShown(t *testing.T) {
	for address, want := range map[string]string{
		"":                                  "",
		"postgres://h:5/db":                 "postgres://h:5/db",
		"postgres://led:secret@h:5/db":      "postgres://led:xxxxx@h:5/db",
		"postgres://h/db?password=secret":   "postgres://h/db?password=xxxxx",
		"postgres://led:a@secret@h/db":      "postgres://led:xxxxx@h/db",
		"postgres://led:p@secret/w:d@h/db":  cli.Hidden,
		"host=h user=led password = secret": cli.Hidden,
		"postgres://led:sec%ret@h/db":       cli.Hidden,
	} {
		if got := cli.WithoutPassword(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}
