package natsserver

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// startWarnings is how many of the server's complaints a failed start repeats.
const startWarnings = 8

// payloadNotice is the server's remark on every start that messages above 8 MB
// are discouraged. The headroom for headers is deliberate, so it is no warning
// here.
const payloadNotice = "Maximum payloads over"

// subjectWarning is in the server's remark that its index of a stream holds a
// subject that it would not write itself: an arrival's, whose producer chose
// it. The server then reads the stream instead of the index, at every start.
const (
	subjectWarning = "corrupt subject"
	subjectMeaning = "an arrival came with a subject that NATS keeps and does not expect; nothing is lost: " +
		"the stream is read instead of its index, so starts take longer (deploy/nats/README.md)"
)

// logger hands the server's lines to slog. It takes no traces: they would hold
// the messages themselves.
type logger struct {
	slog *slog.Logger

	mu       sync.Mutex
	starting bool     // complaints are kept while it is true
	warnings []string // at most startWarnings
	fatal    string   // the first fatal line; the server gave up
	watch    *watch   // hears of every complaint after the start
}

func newLogger(to *slog.Logger) *logger {
	return &logger{slog: to.With("part", "nats"), starting: true}
}

// started ends the keeping of complaints. From here on the watch hears that
// there are some.
func (l *logger) started(watch *watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starting, l.warnings, l.watch = false, nil, watch
}

// complaints gives what went wrong during the start, and whether the server
// gave up.
func (l *logger) complaints() (text string, fatal bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.warnings
	if l.fatal != "" {
		lines = append(lines[:len(lines):len(lines)], l.fatal)
	}
	return strings.Join(lines, "; "), l.fatal != ""
}

func (l *logger) keep(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.starting && len(l.warnings) < startWarnings {
		l.warnings = append(l.warnings, strings.TrimSpace(line))
	}
}

// Noticef implements server.Logger.
func (l *logger) Noticef(format string, v ...any) { l.slog.Debug(line(format, v)) }

// Warnf implements server.Logger.
func (l *logger) Warnf(format string, v ...any) {
	if strings.HasPrefix(format, payloadNotice) {
		l.Noticef(format, v...)
		return
	}
	l.keep(line(format, v))
	if strings.Contains(format, subjectWarning) {
		l.slog.Warn(line(format, v), "meaning", subjectMeaning)
		return
	}
	l.slog.Warn(line(format, v))
}

// Errorf implements server.Logger.
func (l *logger) Errorf(format string, v ...any) {
	l.keep(line(format, v))
	l.slog.Error(line(format, v))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch != nil {
		l.watch.look()
	}
}

// Fatalf implements server.Logger. Unlike the server's own loggers it does not
// end the process: Start reports it.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	if l.fatal == "" {
		l.fatal = line(format, v)
	}
	l.mu.Unlock()
	l.slog.Error(line(format, v))
}

// Debugf implements server.Logger; the server calls it only when told to.
func (l *logger) Debugf(format string, v ...any) { l.slog.Debug(line(format, v)) }

// Tracef implements server.Logger. Traces are dropped.
func (l *logger) Tracef(string, ...any) {}

func line(format string, v []any) string { return strings.TrimSpace(fmt.Sprintf(format, v...)) }
