package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/ledgerd/ledgerd/internal/pgtest"
)

// patience is how long a test waits for what takes a moment. Only a failing
// test reaches it.
const patience = 60 * time.Second

// binaries are the two programs, built once as they are shipped.
var binaries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ledgerd-ingest-")
	if err != nil {
		return "", err
	}
	built = dir
	build := exec.Command("go", "build", "-o", dir+"/", "github.com/ledgerd/ledgerd/cmd/ledgerd", "github.com/ledgerd/ledgerd/cmd/ingest")
	out, err := build.CombinedOutput()
	return dir, errors.Wrapf(err, "build the binaries: %s", out)
})

var built string // directory of the binaries; "" when no test asked for them

func binary(t testing.TB, name string) string {
	t.Helper()
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.StopShared()
	_ = os.RemoveAll(built)
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// process is a program that runs, with what it has printed so far.
type process struct {
	out, errs *transcript
	cmd       *exec.Cmd
	ended     chan struct{} // closed when it has ended and all it printed is read
}

// start runs a program. It ends with the test.
func start(t testing.TB, stdin, name string, args ...string) *process {
	t.Helper()
	return startWith(t, nil, stdin, name, args...)
}

// startWith runs a program with more variables in its environment.
func startWith(t testing.TB, variables []string, stdin, name string, args ...string) *process {
	t.Helper()
	p := &process{out: newTranscript(), errs: newTranscript(), cmd: exec.Command(binary(t, name), args...), ended: make(chan struct{})}
	p.cmd.Env = append(environment(), variables...)
	p.cmd.Stdin = strings.NewReader(stdin)
	stdout, err := p.cmd.StdoutPipe()
	stderr, err2 := p.cmd.StderrPipe()
	if err := errors.CombineErrors(errors.CombineErrors(err, err2), p.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { p.out.follow(stdout) })
	reading.Go(func() { p.errs.follow(stderr) })
	go func() {
		reading.Wait()
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() { p.signal(syscall.SIGKILL) })
	return p
}

// environment has none of the programs' own variables.
func environment() []string {
	return append(slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "LEDGERD_") }), "NO_COLOR=1")
}

// signal ends the program, by its own process id, and waits for it.
func (p *process) signal(s syscall.Signal) int {
	_ = p.cmd.Process.Signal(s) // an error means that it is gone
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// exit waits for the program's end.
func (p *process) exit(t testing.TB) ran {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%v does not end; it printed\n%s%s", p.cmd.Args, p.out, p.errs)
	}
	return ran{args: p.cmd.Args, code: p.cmd.ProcessState.ExitCode(), out: p.out.String(), err: p.errs.String()}
}

// ran is a program that ended.
type ran struct {
	args     []string
	code     int
	out, err string
}

// run runs a program to its end.
func run(t testing.TB, stdin, name string, args ...string) ran {
	t.Helper()
	return start(t, stdin, name, args...).exit(t)
}

// want checks the exit code, and that standard error says each of says.
func (r ran) want(t testing.TB, code int, says ...string) ran {
	t.Helper()
	missing := slices.DeleteFunc(slices.Clone(says), func(text string) bool { return strings.Contains(r.err, text) })
	if r.code != code || len(missing) != 0 || strings.Contains(r.err, "goroutine ") {
		t.Errorf("%v: exit code %d, want %d; it must say %q, and printed\n%s%s", r.args, r.code, code, missing, r.out, r.err)
	}
	return r
}

// lines are the JSON lines that a program printed.
func lines[T any](t testing.TB, out string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(out) {
		var one T
		if err := json.Unmarshal([]byte(line), &one, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}

// transcript is what a program prints, while a test reads it.
type transcript struct {
	mutex sync.Mutex
	text  bytes.Buffer
	grown chan struct{} // closed, and replaced, with every line
}

func newTranscript() *transcript { return &transcript{grown: make(chan struct{})} }

// follow reads until the program closes the stream.
func (tr *transcript) follow(from io.Reader) {
	reader := bufio.NewReader(from)
	for {
		line, err := reader.ReadString('\n')
		tr.mutex.Lock()
		tr.text.WriteString(line)
		close(tr.grown)
		tr.grown = make(chan struct{})
		tr.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

func (tr *transcript) String() string {
	tr.mutex.Lock()
	defer tr.mutex.Unlock()
	return tr.text.String()
}

// await waits until the program has printed what matches, and gives the groups.
func (p *process) await(t testing.TB, tr *transcript, pattern string) []string {
	t.Helper()
	matches := regexp.MustCompile(pattern)
	limit := time.After(patience)
	for ended := false; ; {
		tr.mutex.Lock()
		text, grown := tr.text.String(), tr.grown
		tr.mutex.Unlock()
		if found := matches.FindStringSubmatch(text); found != nil {
			return found
		}
		if ended {
			t.Fatalf("%v ended without printing %s:\n%s%s", p.cmd.Args, pattern, p.out, p.errs)
		}
		select {
		case <-grown:
		case <-p.ended:
			ended = true // what it printed last is looked at once more
		case <-limit:
			t.Fatalf("%v does not print %s:\n%s%s", p.cmd.Args, pattern, p.out, p.errs)
		}
	}
}
