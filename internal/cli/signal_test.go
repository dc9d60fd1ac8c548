package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/cli"
)

// asProgram is the variable that makes the test binary the program.
const asProgram = "CLI_TEST_AS_PROGRAM"

// waitCommand waits for the context to end.
type waitCommand struct {
	Stubborn bool `help:"Go on after the context has ended."`
}

func (c *waitCommand) Run(ctx context.Context, streams cli.Streams) error {
	fmt.Fprintln(streams.Out, "waiting")
	<-ctx.Done()
	fmt.Fprintln(streams.Out, "ending")
	if c.Stubborn {
		_, err := bufio.NewReader(streams.In).ReadByte() // nothing ever comes
		return err
	}
	return errors.Wrap(ctx.Err(), "wait")
}

// started is a running program.
type started struct {
	*exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, args ...string) started {
	t.Helper()
	command := exec.Command(os.Args[0], args...)
	command.Env = append(os.Environ(), asProgram+"=1")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := command.StdinPipe() // stays open
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return started{command, bufio.NewScanner(out)}
}

func (s started) says(t *testing.T, want string) {
	t.Helper()
	if !s.lines.Scan() || s.lines.Text() != want {
		t.Fatalf("it says %q, want %q", s.lines.Text(), want)
	}
}

func TestFirstSignalEndsTheContext(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		program := start(t, "wait")
		program.says(t, "waiting")
		if err := program.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		program.says(t, "ending")
		if err := program.Wait(); program.ProcessState.ExitCode() != cli.ExitFailed {
			t.Errorf("%v: %v", signal, err)
		}
	}
}

func TestSecondSignalKills(t *testing.T) {
	program := start(t, "wait", "--stubborn")
	program.says(t, "waiting")
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	program.says(t, "ending")
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	// The program gives up its handler a moment after the context ended; until
	// then a signal is one more first one.
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-ended:
			if status := program.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
				t.Errorf("it ended by %v", program.ProcessState)
			}
			return
		case <-again.C:
			_ = program.Process.Signal(syscall.SIGTERM) // it may just have ended
		}
	}
}

func TestArgumentsOfTheProcess(t *testing.T) {
	program := start(t, "greet", "ada")
	program.says(t, "hello ada, kind")
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}
