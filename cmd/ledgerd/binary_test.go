package main

import (
	"bufio"
	"bytes"
	"context"

	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
)

// patience is how long a test waits for what takes a moment. Only a failing
// test reaches it.
const patience = 60 * time.Second

// binaries are the two programs, built once as they are shipped.
var binaries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ledgerd-binaries-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir+"/", "github.com/ledgerd/ledgerd/cmd/ledgerd", "github.com/ledgerd/ledgerd/cmd/ingest").CombinedOutput()
	return dir, errors.Wrapf(err, "build the binaries: %s", out)
})

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
	if dir, err := binaries(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// run runs a program to its end and gives what it printed and its exit code.
func runBinary(t testing.TB, stdin string, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t, name), args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// process is a daemon of its own.
type process struct {
	cmd  *exec.Cmd
	log  *lockedBuffer
	http string
	nats string

	readyChan chan struct{}
	ended     chan struct{}
}

// startProcess runs `ledgerd serve` and does not wait for it.
func startProcess(t testing.TB, args ...string) *process {
	t.Helper()
	p := &process{log: &lockedBuffer{}, ended: make(chan struct{})}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0"}, args...)
	p.cmd = exec.Command(binary(t, "ledgerd"), args...)
	p.cmd.Stderr = p.log
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() {
		defer close(p.ended)
		lines := bufio.NewReader(stdout)
		line, _ := lines.ReadString('\n')
		if found := regexp.MustCompile(`http (\S+), nats (\S+),`).FindStringSubmatch(line); found != nil {
			p.http, p.nats = found[1], found[2]
			close(ready)
		}
		_, _ = io.Copy(io.Discard, lines)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() { p.signal(syscall.SIGKILL) })
	p.readyChan = ready
	return p
}

// awaitReady waits for the daemon's one line.
func (p *process) awaitReady(t testing.TB) *process {
	t.Helper()
	select {
	case <-p.readyChan:
	case <-p.ended:
		t.Fatalf("the daemon ended before it was ready:\n%s", p.log)
	case <-time.After(patience):
		t.Fatalf("the daemon does not get ready:\n%s", p.log)
	}
	return p
}

// signal ends the daemon, by its own process id, and waits for it.
func (p *process) signal(s syscall.Signal) int {
	_ = p.cmd.Process.Signal(s)
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// stop ends the daemon in order.
func (p *process) stop(t testing.TB) {
	t.Helper()
	if code := p.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("SIGTERM ends the daemon with exit code %d:\n%s", code, p.log)
	}
}

// lockedBuffer takes what a process logs while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
