package jetstream_test

import (
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats-server/v2/server"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

// TestRefusalsByCode: the codes are the server's own, and only what is known
// to have stored nothing counts as that.
func TestRefusalsByCode(t *testing.T) {
	for want, codes := range map[error][]server.ErrorIdentifier{
		events.ErrMoved: {server.JSStreamWrongLastSequenceErrF, server.JSStreamWrongLastSequenceConstantErr},
		events.ErrRefused: {
			server.JSAccountResourcesExceededErr, server.JSInsufficientResourcesErr, server.JSStreamMessageExceedsMaximumErr,
			server.JSStreamNotMatchErr, server.JSStreamHeaderExceedsMaximumErr, server.JSStreamSealedErr,
			server.JSAtomicPublishDisabledErr, server.JSAtomicPublishTooLargeBatchErrF, server.JSAtomicPublishContainsDuplicateMessageErr,
		},
		events.ErrUnavailable: {
			server.JSNotEnabledForAccountErr, server.JSNotEnabledErr, server.JSStreamDuplicateMessageConflict,
			server.JSAtomicPublishIncompleteBatchErr, server.JSAtomicPublishTooManyInflight,
		},
		events.ErrStateUnknown: {server.JSStreamStoreFailedF, server.JSStreamOfflineErr, server.JSClusterNotLeaderErr, 1},
	} {
		for _, code := range codes {
			got := jetstream.Classify(natsjs.ErrorCode(code))
			for _, mark := range []error{events.ErrMoved, events.ErrRefused, events.ErrUnavailable, events.ErrStateUnknown} {
				if errors.Is(got, mark) != errors.Is(want, mark) {
					t.Errorf("code %d: %v is %v", code, got, mark)
				}
			}
		}
	}
}
