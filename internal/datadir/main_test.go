package datadir_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/ledgerd/ledgerd/internal/datadir"
)

// holdEnv makes the test binary another process that holds a directory.
const holdEnv = "DATADIR_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		os.Exit(holdUntilToldToStop(dir))
	}
	os.Exit(m.Run())
}

// holdUntilToldToStop holds dir, announces itself and says so, until standard
// input ends.
func holdUntilToldToStop(dir string) int {
	d, err := datadir.Open(dir)
	if err == nil {
		err = d.Announce("nats://127.0.0.1:1", "http://127.0.0.1:2", true)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is the signal
	if err := d.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// process is another process that holds a directory.
type process struct {
	cmd  *exec.Cmd
	stop io.Closer
}

// startHolder returns when the other process holds dir.
func startHolder(t *testing.T, dir string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, stop: stdin}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // both fail when it ended before
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process says %q: %v", line, err)
	}
	return p
}

// leave lets the process close the directory and end.
func (p *process) leave(t *testing.T) {
	t.Helper()
	if err := p.stop.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("the other process: %v", err)
	}
}

// crash kills the process where it stands.
func (p *process) crash(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err == nil {
		t.Fatal("the other process ended well although it was killed")
	}
}
