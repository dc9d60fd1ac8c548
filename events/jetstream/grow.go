package jetstream

import (
	"context"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

// Growth is a stream that was given more room.
type Growth struct {
	Stream                   string
	FromBytes, ToBytes       int64
	FromMessages, ToMessages int64 // -1: not bounded in number
}

// Grow gives existing streams the room that limits have for them, and changes
// nothing else of them: no bound ever becomes smaller. It needs the right to
// update streams. Errors: ErrShrunk when both together keep more room than
// limits have, since then the server would refuse decisions on what ARRIVALS
// takes; events.ErrUnavailable.
func Grow(ctx context.Context, js natsjs.JetStream, limits Limits) ([]Growth, error) {
	if err := limits.check(); err != nil {
		return nil, err
	}
	ledger, err := newStream(js, events.LedgerStream).info(ctx)
	if err != nil {
		return nil, err
	}
	arrivals, err := newStream(js, events.ArrivalsStream).info(ctx)
	if err != nil {
		return nil, err
	}
	if err := limits.covers(arrivals.Config, ledger.Config); err != nil {
		return nil, err
	}
	next, ok := limits.over(arrivals.Config, ledger.Config)
	if !ok {
		return nil, nil
	}
	// LEDGER first: what ARRIVALS takes has a place for its answer. A crash in
	// between leaves ARRIVALS small, and the next start goes on.
	var grown []Growth
	for _, to := range []natsjs.StreamConfig{
		bounded(ledger.Config, next.ledgerBytes, ledger.Config.MaxMsgs),
		bounded(arrivals.Config, next.arrivalsBytes, next.arrivalsMessages),
	} {
		from := ledger.Config
		if to.Name == arrivals.Config.Name {
			from = arrivals.Config
		}
		if to.MaxBytes == from.MaxBytes && to.MaxMsgs == from.MaxMsgs {
			continue
		}
		if err := update(ctx, js, to); err != nil {
			return grown, err
		}
		grown = append(grown, Growth{to.Name, from.MaxBytes, to.MaxBytes, from.MaxMsgs, to.MaxMsgs})
	}
	return grown, nil
}

// covers checks that both streams have the room that they keep.
func (l Limits) covers(arrivals, ledger natsjs.StreamConfig) error {
	keep := max(arrivals.MaxBytes, 0) + max(ledger.MaxBytes, 0)
	if keep <= l.room() {
		return nil
	}
	return errors.WithHintf(errors.Wrapf(ErrShrunk, "%d bytes, of which they keep %d", l.StoreBytes, keep),
		"a stream is never made smaller: give them %d bytes or more", storeFor(keep))
}

// storeFor is the least store, in whole MiB, with so much room for the streams.
func storeFor(room int64) int64 {
	const mib = 1 << 20
	store := (room + mib - 1) / mib * mib
	for (Limits{StoreBytes: store}).room() < room {
		store += (room - Limits{StoreBytes: store}.room() + mib - 1) / mib * mib
	}
	return store
}

// over is the share in which neither stream keeps less than it does. It reports
// false when there is none: a stream without a bound has nothing to grow, and
// streams that were shared in another way could take more than is answered.
func (l Limits) over(arrivals, ledger natsjs.StreamConfig) (share, bool) {
	if arrivals.MaxBytes <= 0 || arrivals.MaxMsgs <= 0 || ledger.MaxBytes <= 0 {
		return share{}, false
	}
	s := l.share()
	s.arrivalsBytes = max(s.arrivalsBytes, arrivals.MaxBytes)
	s.arrivalsMessages = max(s.arrivalsMessages, arrivals.MaxMsgs)
	s.ledgerBytes = max(s.ledgerBytes, ledger.MaxBytes)
	return s, s.arrivalsBytes+s.ledgerBytes <= l.room() && s.answers() <= s.ledgerBytes
}

func bounded(config natsjs.StreamConfig, bytes, messages int64) natsjs.StreamConfig {
	config.MaxBytes, config.MaxMsgs = bytes, messages
	return config
}

func update(ctx context.Context, js natsjs.JetStream, config natsjs.StreamConfig) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := js.UpdateStream(ctx, config)
	return errors.Wrapf(errors.Mark(err, events.ErrUnavailable), "give %s more room", config.Name)
}
