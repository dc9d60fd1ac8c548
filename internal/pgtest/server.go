package pgtest

import (
	"bufio"
	"context"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/errors"
)

const (
	superuser = "ledgerd"
	// startLimit bounds how long a server may take until it takes connections.
	startLimit = time.Minute
	// stopLimit bounds an orderly stop.
	stopLimit = 20 * time.Second
)

// ready is the line of the server's log that says it takes connections.
const ready = "database system is ready to accept connections"

// Server is a running Postgres.
type Server struct {
	directory string
	command   *exec.Cmd
	log       *serverLog
	exited    chan struct{} // closed when the process has ended and its log is read
	stop      sync.Once
}

// Start makes a cluster and runs a server on it. The caller stops it. Trust
// authentication, no fsync: what is in it does not outlive the test.
func Start(ctx context.Context) (*Server, error) {
	runner, err := unprivileged()
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "ledgerd-pg-") // short: a socket's path has 107 bytes
	if err != nil {
		return nil, errors.Wrap(err, "pgtest: make a directory")
	}
	s := &Server{directory: directory, log: &serverLog{ready: make(chan struct{})}, exited: make(chan struct{})}
	if err := s.start(ctx, runner); err != nil {
		return nil, errors.CombineErrors(err, os.RemoveAll(directory))
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, runner account) error {
	if err := runner.own(s.directory); err != nil {
		return err
	}
	if err := s.initialise(ctx, runner); err != nil {
		return err
	}
	return s.launch(ctx, runner)
}

// Again starts the server on the same files after [Server.Kill]: it recovers as
// after a crash.
func (s *Server) Again(ctx context.Context) error {
	runner, err := unprivileged()
	if err != nil {
		return err
	}
	s.log, s.exited = &serverLog{ready: make(chan struct{})}, make(chan struct{})
	return s.launch(ctx, runner)
}

func (s *Server) launch(ctx context.Context, runner account) error {
	program, err := binary("postgres")
	if err != nil {
		return err
	}
	// The server outlives ctx, which bounds only its start: Stop ends it.
	s.command = exec.Command(program, "-D", s.data(), //nolint:gosec // the machine's own postgres
		"-c", "listen_addresses=", "-c", "unix_socket_directories="+s.directory,
		"-c", "fsync=off", "-c", "lc_messages=C", "-c", "logging_collector=off", "-c", "log_min_messages=warning")
	s.command.Dir = s.directory
	runner.runAs(s.command)
	output, err := s.command.StderrPipe()
	if err != nil {
		return errors.Wrap(err, "pgtest: read the server's log")
	}
	if err := s.command.Start(); err != nil {
		return errors.Wrap(err, "pgtest: start postgres")
	}
	go s.follow(output)
	return s.awaitReady(ctx)
}

func (s *Server) data() string { return filepath.Join(s.directory, "data") }

func (s *Server) initialise(ctx context.Context, runner account) error {
	program, err := binary("initdb")
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, program, "-D", s.data(), "-U", superuser, //nolint:gosec // the machine's own initdb
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	command.Dir = s.directory
	runner.runAs(command)
	if output, err := command.CombinedOutput(); err != nil {
		return errors.Wrapf(err, "pgtest: initdb says:\n%s", output)
	}
	return nil
}

// follow reads the log until the process ends. Stop waits for it.
func (s *Server) follow(output io.Reader) {
	defer close(s.exited)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		s.log.add(lines.Text())
	}
	_ = s.command.Wait() // how it ended is in the log
}

func (s *Server) awaitReady(ctx context.Context) error {
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	select {
	case <-s.log.ready:
		return nil
	case <-s.exited:
		return errors.Newf("pgtest: postgres ended instead of starting:\n%s", s.log)
	case <-ctx.Done():
	case <-limit.C:
	}
	s.Kill()
	return errors.Newf("pgtest: postgres did not start in time:\n%s", s.log)
}

// Stop ends the server, connections and all, and removes its files.
func (s *Server) Stop() {
	s.stop.Do(func() {
		limit := time.NewTimer(stopLimit)
		defer limit.Stop()
		_ = s.command.Process.Signal(syscall.SIGINT) // fast shutdown; an error means that it is gone
		select {
		case <-s.exited:
		case <-limit.C:
			s.Kill()
		}
		_ = os.RemoveAll(s.directory)
	})
}

// Kill ends the server at once, as a crash would. Its files stay until Stop.
func (s *Server) Kill() {
	_ = s.command.Process.Signal(syscall.SIGQUIT) // immediate shutdown: its children go too
	<-s.exited
}

// URL is how to connect to a database as a user.
func (s *Server) URL(user, database string) string {
	return (&url.URL{
		Scheme: "postgres", User: url.User(user), Path: "/" + database,
		RawQuery: url.Values{"host": {s.directory}, "sslmode": {"disable"}}.Encode(),
	}).String()
}

// serverLog keeps the log's lines, for a failure to tell.
type serverLog struct {
	mutex sync.Mutex
	lines []string
	once  sync.Once
	ready chan struct{} // closed when the server takes connections
}

func (l *serverLog) add(line string) {
	if strings.Contains(line, ready) {
		l.once.Do(func() { close(l.ready) })
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.lines = append(l.lines, line)
}

// String is the log so far.
func (l *serverLog) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return strings.Join(l.lines, "\n")
}
