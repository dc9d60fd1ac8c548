package natsclient

import (
	"context"
	"log/slog"
	"sync"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// Denials keeps what the server did not permit on one connection. A denied
// publication is dropped, so the request behind it times out; that it was
// denied is said on the side only, here. It is safe for concurrent use.
type Denials struct {
	role natsdeploy.Role
	log  *slog.Logger

	mu    sync.Mutex
	first error
	done  chan struct{} // closed with the first denial
}

func newDenials(role natsdeploy.Role, log *slog.Logger) *Denials {
	return &Denials{role: role, log: log, done: make(chan struct{})}
}

// Err is the first denial, marked [ErrDenied], or nil.
func (d *Denials) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first
}

// Done is closed when something was denied.
func (d *Denials) Done() <-chan struct{} { return d.done }

// Bound gives a context that ends with the first denial too, which is then its
// cause: a request need not wait for an answer that never comes. Whoever gets
// the request's error asks [Denials.Explain] what it was.
func (d *Denials) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-d.done:
			cancel(d.Err())
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil); <-ended }
}

// Explain gives the denial in place of an error that it explains: one that
// came while something was denied. Without a denial it gives err.
func (d *Denials) Explain(err error) error {
	if denied := d.Err(); err != nil && denied != nil {
		return errors.WithSecondaryError(denied, err)
	}
	return err
}

// hear takes what the server says on the side.
func (d *Denials) hear(_ *nats.Conn, sub *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		d.logOther(sub, err)
		return
	}
	d.log.Debug("NATS denies", "role", d.role, "error", err)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first != nil {
		return
	}
	d.first = errors.WithHintf(errors.Wrapf(errors.Mark(err, ErrDenied), "as %s", d.role),
		"Check that the credentials are %s's. An operator publishes every kind of arrival, a coordinator cells and checkpoints, a reader reads the streams.", d.role)
	close(d.done)
}

func (d *Denials) logOther(sub *nats.Subscription, err error) {
	if sub != nil {
		d.log.Warn("NATS subscription", "subject", sub.Subject, "error", err)
		return
	}
	d.log.Warn("NATS connection", "error", err)
}
