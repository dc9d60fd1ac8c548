package jetstream

import (
	"context"
	"slices"
	"time"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

// Errors of Provision and Grow.
var (
	// ErrTooLittleRoom: the streams are given too little room to be of use.
	ErrTooLittleRoom = errors.New("jetstream: too little room for the streams")
	// ErrShrunk: the streams are given less room than they were made with.
	ErrShrunk = errors.New("jetstream: the streams keep more room than they are given")
	// ErrUnfit: a stream of that name exists and cannot be used.
	ErrUnfit = errors.New("jetstream: the stream cannot be used")
)

// duplicateWindow is how long a publication can be tried again without being
// stored twice.
const duplicateWindow = 2 * time.Minute

// Provision makes the streams that are missing. A stream that exists is never
// changed: it must be of the same ledger and take what is appended, or it is
// ErrUnfit; [Grow] gives it more room, [Inspect] tells what else is wrong with
// it. Errors: also
// ErrTooLittleRoom, events.ErrUnavailable.
func Provision(ctx context.Context, js natsjs.JetStream, limits Limits) error {
	if err := limits.check(); err != nil {
		return err
	}
	// LEDGER first: what ARRIVALS acknowledges has a place for its answer.
	for _, config := range []natsjs.StreamConfig{ledgerConfig(limits), arrivalsConfig(limits)} {
		if err := provision(ctx, js, config); err != nil {
			return errors.Wrapf(err, "provision %s", config.Name)
		}
	}
	return nil
}

func provision(ctx context.Context, js natsjs.JetStream, config natsjs.StreamConfig) error {
	stream := newStream(js, config.Name)
	info, err := stream.info(ctx)
	if isMissing(err) {
		ctxt, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		_, err = js.CreateStream(ctxt, config)
		if err != nil && !errors.Is(err, natsjs.ErrStreamNameAlreadyInUse) {
			return errors.WithHint(errors.Mark(err, events.ErrUnavailable),
				"the streams need JetStream with file storage, server 2.12 or later, and enough room for what they reserve")
		}
		info, err = stream.info(ctx) // it may be another daemon's, made just now
	}
	if err != nil {
		return err
	}
	return fits(info.Config, config)
}

// fits checks that a stream is the one that was wanted, as far as appending
// and reading go.
func fits(found, wanted natsjs.StreamConfig) error {
	id := found.Metadata[MetadataLedgerID]
	switch {
	case id != "" && id != wanted.Metadata[MetadataLedgerID]:
		return errors.WithHint(errors.Wrapf(ErrUnfit, "it is ledger %s, not %s", id, wanted.Metadata[MetadataLedgerID]),
			"this server keeps another ledger: use another server or account, or the data directory that belongs to it")
	case !slices.Equal(found.Subjects, wanted.Subjects):
		return errors.Wrapf(ErrUnfit, "it takes the subjects %v, not %v", found.Subjects, wanted.Subjects)
	case wanted.AllowAtomicPublish && !found.AllowAtomicPublish:
		return errors.WithHint(errors.Wrap(ErrUnfit, "it does not allow atomic publishing"), "allow it: it is what keeps two writers apart")
	}
	return nil
}

// common is what both streams are: nothing in them is ever dropped, replaced or
// removed, and what does not fit is refused.
func common(name, subject string, limits Limits) natsjs.StreamConfig {
	return natsjs.StreamConfig{
		Name:              name,
		Subjects:          []string{subject},
		Retention:         natsjs.LimitsPolicy,
		Discard:           natsjs.DiscardNew,
		MaxConsumers:      -1,
		MaxMsgsPerSubject: -1,
		Storage:           natsjs.FileStorage,
		Replicas:          limits.Replicas,
		Duplicates:        duplicateWindow,
		DenyDelete:        true,
		DenyPurge:         true,
		AllowDirect:       true,
		Metadata:          map[string]string{MetadataLedgerID: limits.LedgerID},
	}
}

func arrivalsConfig(limits Limits) natsjs.StreamConfig {
	config := common(events.ArrivalsStream, events.ArrivalsFilter, limits)
	config.Description = "facts that producers published"
	share := limits.share()
	config.MaxBytes, config.MaxMsgs = share.arrivalsBytes, share.arrivalsMessages
	config.MaxMsgSize = maxMessageBytes
	return config
}

func ledgerConfig(limits Limits) natsjs.StreamConfig {
	config := common(events.LedgerStream, events.DecisionsFilter, limits)
	config.Description = "the decision at sequence n answers the arrival at sequence n"
	config.MaxBytes, config.MaxMsgs = limits.share().ledgerBytes, -1
	config.MaxMsgSize = maxRecordMessageBytes
	config.AllowAtomicPublish = true
	// Whoever follows along hears of a decision when it is stored, not before.
	config.RePublish = &natsjs.RePublish{Source: events.DecisionsFilter, Destination: events.CommittedFilter}
	return config
}

// isMissing reports whether an error says that there is no such stream.
func isMissing(err error) bool {
	var api *natsjs.APIError
	return errors.As(err, &api) && api.ErrorCode == codeStreamNotFound
}
