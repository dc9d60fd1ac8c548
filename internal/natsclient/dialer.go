package natsclient

import (
	"context"
	"net"
	"sync"

	"github.com/cockroachdb/errors"
)

// dialer lets a context end the first attempt to connect: dialling, and what
// follows until the client is connected. Later attempts are the client's own.
type dialer struct {
	mu    sync.Mutex
	first context.Context // nil after release
	stops []func() bool
}

func newDialer(first context.Context) *dialer { return &dialer{first: first} }

// Dial implements nats.CustomDialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	d.mu.Lock()
	ctx := d.first
	d.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	dialer := net.Dialer{Timeout: connectTimeout}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, errors.Wrapf(err, "dial %s", address)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first != nil {
		d.stops = append(d.stops, context.AfterFunc(d.first, func() { _ = conn.Close() })) // the handshake then ends with an error
	}
	return conn, nil
}

// release lets go of the context.
func (d *dialer) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, stop := range d.stops {
		stop()
	}
	d.first, d.stops = nil, nil
}
