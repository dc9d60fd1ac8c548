// Package progress shows how far long work is: a bar on a terminal, a line now
// and then elsewhere.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	// redrawInterval keeps the bar from costing more than the work.
	redrawInterval = 100 * time.Millisecond
	// lineInterval is how often a log gets a line.
	lineInterval = 5 * time.Second
)

// Progress counts work. Its methods are safe for concurrent use.
type Progress struct {
	bar   *progressbar.ProgressBar // nil elsewhere than on a terminal
	out   io.Writer
	what  string
	total int64

	done atomic.Int64
	next atomic.Int64 // Unix nanoseconds of the next line
}

// Start begins to count. total is 0 when it is unknown.
func Start(out io.Writer, what string, total int64) *Progress {
	p := &Progress{out: out, what: what, total: total}
	p.next.Store(time.Now().Add(lineInterval).UnixNano())
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.bar = progressbar.NewOptions64(max(total, -1), progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionThrottle(redrawInterval), progressbar.OptionClearOnFinish())
	}
	return p
}

// Add counts n more.
func (p *Progress) Add(n int64) { p.Set(p.done.Add(n)) }

// Set says how much is done.
func (p *Progress) Set(done int64) {
	p.done.Store(done)
	if p.bar != nil {
		_ = p.bar.Set64(done) // a terminal that went away is no reason to stop
		return
	}
	now, next := time.Now(), p.next.Load()
	if now.UnixNano() >= next && p.next.CompareAndSwap(next, now.Add(lineInterval).UnixNano()) {
		p.line(done)
	}
}

func (p *Progress) line(done int64) {
	if p.total > 0 {
		fmt.Fprintf(p.out, "%s: %d of %d\n", p.what, done, p.total)
		return
	}
	fmt.Fprintf(p.out, "%s: %d\n", p.what, done)
}

// Done ends the counting and clears the bar.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
