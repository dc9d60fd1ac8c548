package jetstream

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// syncSubject asks every server for its JetStream configuration. Only
	// connections of the system account are answered.
	syncSubject = "$SYS.REQ.SERVER.PING.JSZ"
	// syncPatience is how long servers may take to answer, one after the other.
	syncPatience = 500 * time.Millisecond
)

// AskSync asks the servers whether they put a message on disk before they
// acknowledge it. SyncUnknown when none answers, as for every connection
// outside the system account; SyncAlways when all that answer do.
func AskSync(ctx context.Context, conn *nats.Conn) Sync {
	inbox, err := conn.SubscribeSync(conn.NewInbox())
	if err != nil {
		return SyncUnknown
	}
	defer func() { _ = inbox.Unsubscribe() }() // fails on a closed connection, which has none
	if err := conn.PublishRequest(syncSubject, inbox.Subject, nil); err != nil {
		return SyncUnknown
	}
	known := SyncUnknown
	for {
		answer, err := nextWithin(ctx, inbox, syncPatience)
		if err != nil {
			return known
		}
		switch {
		case answer.Header.Get(headerStatus) != "": // nobody listens
			return known
		case syncOf(answer.Data) != SyncAlways:
			return syncOf(answer.Data)
		}
		known = SyncAlways
	}
}

func nextWithin(ctx context.Context, sub *nats.Subscription, patience time.Duration) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

// syncOf reads one server's answer.
func syncOf(answer []byte) Sync {
	var server struct {
		Data *struct {
			Config *struct {
				SyncAlways bool `json:"sync_always"`
			} `json:"config"`
		} `json:"data"`
	}
	switch err := json.Unmarshal(answer, &server); {
	case err != nil || server.Data == nil || server.Data.Config == nil:
		return SyncUnknown
	case server.Data.Config.SyncAlways:
		return SyncAlways
	default:
		return SyncRelaxed
	}
}
