package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"go.uber.org/goleak"

	"github.com/ledgerd/ledgerd/internal/cli"
)

// TestMain runs the program instead of the tests when it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(testProgram().Main())
	}
	goleak.VerifyTestMain(m)
}

// commands are a program with one of everything.
type commands struct {
	Greet greetCommand `cmd:"" help:"Say hello."`
	Copy  copyCommand  `cmd:"" help:"Copy the input."`
	Log   logCommand   `cmd:"" help:"Log at every level."`
	Fail  failCommand  `cmd:"" help:"Fail in a way of its own."`
	Deep  deepCommands `cmd:"" help:"Commands below commands."`
	Wait  waitCommand  `cmd:"" help:"Wait for a signal."`
}

type greetCommand struct {
	Whom  string `arg:"" help:"Who is greeted."`
	Times int    `default:"1" help:"How often."`
	Tone  string `name:"voice-tone" enum:"kind,cool" default:"kind" help:"How it sounds."`
	Plain string `env:"-" default:"hello" help:"What is said."`
}

func (c *greetCommand) Run(_ context.Context, streams cli.Streams) error {
	for range c.Times {
		fmt.Fprintf(streams.Out, "%s %s, %s\n", c.Plain, c.Whom, c.Tone)
	}
	return nil
}

type copyCommand struct{}

func (copyCommand) Run(ctx context.Context, streams cli.Streams) error {
	if ctx.Value(contextKey{}) == nil {
		return errors.New("another context")
	}
	_, err := io.Copy(streams.Out, streams.In)
	return err
}

type contextKey struct{}

type logCommand struct{}

func (logCommand) Run(log *slog.Logger) error {
	log.Debug("a detail")
	log.Info("an event", "key", "value")
	log.Warn("a doubt")
	log.Error("a failure")
	return nil
}

type failCommand struct {
	How string `arg:"" enum:"plainly,hinted,usage,refused,refused-usage,wrapped,joined,canceled,panic" help:"In which way."`
}

func (c *failCommand) Run() error {
	plain := errors.New("the disk is full")
	switch c.How {
	case "hinted":
		return errors.WithHint(errors.WithHint(errors.Wrap(plain, "store the answer"), "free some room\nor move the folder"), "then try again")
	case "usage":
		return errors.WithHint(cli.Usagef("%d is no port", 99999), "give one up to 65535")
	case "refused":
		return errors.Mark(plain, cli.ErrRefused)
	case "refused-usage":
		return errors.Mark(cli.Usagef("bad input"), cli.ErrRefused)
	case "wrapped":
		return errors.Wrap(errors.WithHint(cli.Usagef("no such file"), "look for it"), "read the input")
	case "joined":
		return errors.Join(cli.Usagef("one"), errors.New("two"))
	case "canceled":
		return context.Canceled
	case "panic":
		panic("a bug")
	}
	return plain
}

type deepCommands struct {
	Under underCommand `cmd:"" default:"withargs" help:"The default one."`
	Below belowCommand `cmd:"" help:"Another one."`
}

type underCommand struct {
	Level int `default:"1" help:"How deep."`
}

func (c *underCommand) Run(streams cli.Streams) error {
	_, err := fmt.Fprintln(streams.Out, "under", c.Level)
	return err
}

type belowCommand struct {
	File string `arg:"" help:"A file."`
}

func (c *belowCommand) Run(streams cli.Streams) error {
	_, err := fmt.Fprintln(streams.Out, "below", c.File)
	return err
}

func testProgram() cli.Program {
	return cli.Program{Name: "tester", Description: "A program for tests.\n\nExit codes: 0 done, 1 failed.", Commands: &commands{}}
}

// ran is what a run of the program left behind.
type ran struct {
	code     int
	out, err string
}

func run(t *testing.T, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	ctx := context.WithValue(t.Context(), contextKey{}, true)
	code := testProgram().Run(ctx, args, cli.Streams{In: strings.NewReader("input"), Out: &out, Err: &err})
	return ran{code: code, out: out.String(), err: err.String()}
}

func (r ran) want(t *testing.T, want ran) {
	t.Helper()
	if r != want {
		t.Errorf("code %d, out %q, err %q\nwant %d, out %q, err %q", r.code, r.out, r.err, want.code, want.out, want.err)
	}
}

func TestDone(t *testing.T) {
	run(t, "greet", "ada").want(t, ran{cli.ExitDone, "hello ada, kind\n", ""})
	run(t, "greet", "ada", "--times=2", "--voice-tone", "cool").want(t, ran{cli.ExitDone, "hello ada, cool\nhello ada, cool\n", ""})
	run(t, "copy").want(t, ran{cli.ExitDone, "input", ""})
	run(t, "deep", "below", "x").want(t, ran{cli.ExitDone, "below x\n", ""})
	run(t, "deep").want(t, ran{cli.ExitDone, "under 1\n", ""})
}

func TestFailuresSayWhatToDo(t *testing.T) {
	for how, want := range map[string]ran{
		"plainly": {cli.ExitFailed, "", "tester: the disk is full\n"},
		"hinted": {cli.ExitFailed, "", "tester: store the answer: the disk is full\n" +
			"  hint: free some room\n        or move the folder\n  hint: then try again\n"},
		"usage":         {cli.ExitUsage, "", "tester: 99999 is no port\n  hint: give one up to 65535\n"},
		"refused":       {cli.ExitRefused, "", "tester: the disk is full\n"},
		"refused-usage": {cli.ExitRefused, "", "tester: bad input\n"},
		"wrapped":       {cli.ExitUsage, "", "tester: read the input: no such file\n  hint: look for it\n"},
		"joined":        {cli.ExitUsage, "", "tester: one\ntwo\n"},
		"canceled":      {cli.ExitFailed, "", "tester: context canceled\n"},
	} {
		t.Run(how, func(t *testing.T) { run(t, "fail", how).want(t, want) })
	}
}

func TestExitCode(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		want int
	}{
		"nothing":       {nil, cli.ExitDone},
		"anything":      {errors.New("x"), cli.ExitFailed},
		"usage":         {cli.ErrUsage, cli.ExitUsage},
		"usage wrapped": {errors.Wrap(cli.Usagef("x"), "y"), cli.ExitUsage},
		"refused":       {errors.Wrap(cli.ErrRefused, "y"), cli.ExitRefused},
	} {
		if got := cli.ExitCode(row.err); got != row.want {
			t.Errorf("%s: code %d, want %d", name, got, row.want)
		}
	}
	codes := []int{cli.ExitDone, cli.ExitFailed, cli.ExitUsage, cli.ExitRefused}
	for want, code := range codes { // scripts rely on the numbers
		if code != want {
			t.Errorf("code %d is %d", want, code)
		}
	}
}

func TestBugsAreNotHidden(t *testing.T) {
	defer func() {
		if got := recover(); got != "a bug" {
			t.Errorf("recovered %v", got)
		}
	}()
	run(t, "fail", "panic")
	t.Error("the panic was swallowed")
}

func TestUsageErrorsNameTheHelp(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		says string
		help string
	}{
		"nothing":                {nil, "expected one of", "tester --help"},
		"unknown command":        {[]string{"gret"}, "unexpected argument gret, did you mean \"greet\"?", "tester --help"},
		"unknown flag":           {[]string{"greet", "ada", "--time=2"}, "unknown flag --time, did you mean", "tester greet --help"},
		"missing argument":       {[]string{"greet"}, `expected "<whom>"`, "tester greet --help"},
		"one argument too many":  {[]string{"greet", "ada", "bob"}, "unexpected argument bob", "tester greet --help"},
		"no number":              {[]string{"greet", "ada", "--times=often"}, "--times", "tester greet --help"},
		"none of the words":      {[]string{"greet", "ada", "--voice-tone=loud"}, `--voice-tone must be one of "kind","cool" but got "loud"`, "tester greet --help"},
		"no level":               {[]string{"greet", "ada", "--log-level=loud"}, "--log-level", "tester greet --help"},
		"no format":              {[]string{"log", "--log-format=xml"}, "--log-format", "tester log --help"},
		"below a command":        {[]string{"deep", "below"}, `expected "<file>"`, "tester deep below --help"},
		"of the default command": {[]string{"deep", "--level=x"}, "--level", "tester deep --help"},
		"a flag without a value": {[]string{"greet", "ada", "--times"}, "--times", "tester greet --help"},
		"a word of another enum": {[]string{"fail", "sideways"}, "must be one of", "tester fail --help"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, row.args...)
			if got.code != cli.ExitUsage || got.out != "" || !strings.HasPrefix(got.err, "tester: ") ||
				!strings.Contains(got.err, row.says) || !strings.HasSuffix(got.err, "\n  try: "+row.help+"\n") {
				t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		says []string
	}{
		"whole": {[]string{"--help"}, []string{"Usage: tester <command>", "A program for tests.", "Exit codes: 0 done, 1 failed.",
			"greet", "deep below", "Another one.", "--log-level=info", "--log-format=\"text\"", "--version", "($LEDGERD_LOG_LEVEL)"}},
		"of a command": {[]string{"greet", "--help"}, []string{"Usage: tester greet <whom>", "Say hello.", "Who is greeted.",
			"--times=1", "($LEDGERD_TIMES)", "($LEDGERD_VOICE_TONE)", "--plain=\"hello\""}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, row.args...)
			if got.code != cli.ExitDone || got.err != "" {
				t.Errorf("code %d, err %q", got.code, got.err)
			}
			for _, says := range row.says {
				if !strings.Contains(got.out, says) {
					t.Errorf("%q is not in\n%s", says, got.out)
				}
			}
		})
	}
	if strings.Contains(run(t, "greet", "--help").out, "LEDGERD_PLAIN") {
		t.Error("a flag without a variable shows one")
	}
}

func TestVersion(t *testing.T) {
	got := run(t, "--version")
	got.want(t, ran{cli.ExitDone, cli.Version() + "\n", ""})
	if cli.Version() == "" {
		t.Error("the version is empty")
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("LEDGERD_TIMES", "2")
	t.Setenv("LEDGERD_VOICE_TONE", "cool")
	t.Setenv("LEDGERD_PLAIN", "bye") // this flag has none
	run(t, "greet", "ada").want(t, ran{cli.ExitDone, "hello ada, cool\nhello ada, cool\n", ""})
	run(t, "greet", "ada", "--times=1").want(t, ran{cli.ExitDone, "hello ada, cool\n", ""})

	t.Setenv("LEDGERD_TIMES", "often")
	got := run(t, "greet", "ada")
	if got.code != cli.ExitUsage || !strings.Contains(got.err, "LEDGERD_TIMES") && !strings.Contains(got.err, "--times") {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
}

func TestLogs(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		env  [2]string
		want []string
	}{
		"default":        {nil, [2]string{}, []string{"an event", "a doubt", "a failure"}},
		"debug":          {[]string{"--log-level=debug"}, [2]string{}, []string{"a detail", "an event", "a doubt", "a failure"}},
		"error":          {[]string{"--log-level=ERROR"}, [2]string{}, []string{"a failure"}},
		"by environment": {nil, [2]string{"LEDGERD_LOG_LEVEL", "warn"}, []string{"a doubt", "a failure"}},
		"flag wins":      {[]string{"--log-level=error"}, [2]string{"LEDGERD_LOG_LEVEL", "debug"}, []string{"a failure"}},
	} {
		t.Run(name, func(t *testing.T) {
			if row.env[0] != "" {
				t.Setenv(row.env[0], row.env[1])
			}
			for _, format := range []string{"text", "json"} {
				got := run(t, append([]string{"log", "--log-format", format}, row.args...)...)
				lines := strings.Split(strings.TrimSuffix(got.err, "\n"), "\n")
				if got.code != cli.ExitDone || got.out != "" || len(lines) != len(row.want) {
					t.Fatalf("%s: code %d, out %q, err %q", format, got.code, got.out, got.err)
				}
				for i, line := range lines {
					if !strings.Contains(line, row.want[i]) || json.Valid([]byte(line)) != (format == "json") {
						t.Errorf("%s: %s; want %s", format, line, row.want[i])
					}
				}
			}
		})
	}
}

// TestBrokenDefinitions: a mistake of whoever wrote the commands is an error
// with a code, not a usage error of whoever runs them.
func TestBrokenDefinitions(t *testing.T) {
	var out, err bytes.Buffer
	program := cli.Program{Name: "broken", Commands: &struct {
		A int `enum:"1,2" help:"An enum needs a default."`
	}{}}
	if code := program.Run(t.Context(), nil, cli.Streams{Out: &out, Err: &err}); code != cli.ExitFailed || !strings.HasPrefix(err.String(), "broken: ") {
		t.Errorf("code %d, err %q", code, err.String())
	}
	if strings.Contains(err.String(), "--help") {
		t.Errorf("it is told as a mistake of whoever runs it: %q", err.String())
	}
}
