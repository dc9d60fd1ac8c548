package jetstream

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ledgerd/ledgerd/events"
)

// delivery is what the server says of a message that it delivers.
type delivery struct {
	sequence  uint64 // on the stream
	delivered uint64 // how many messages the consumer has delivered with it
	stored    time.Time
}

// ackPrefix begins the reply subject of every message that a consumer
// delivers, and of nothing else: the server's own words have none. Only the
// server sets it, while everything in a message's headers is its producer's.
const ackPrefix = "$JS.ACK."

// readDelivery reads a delivered message's reply subject, one of
//
//	$JS.ACK.<stream>.<consumer>.<times>.<sequence>.<delivered>.<nanoseconds>.<pending>
//	$JS.ACK.<domain>.<account>.<stream>.<consumer>.<times>.<sequence>.<delivered>.<nanoseconds>.<pending>.<token>
//
// and reports false when it is none.
func readDelivery(reply string) (delivery, bool) {
	if !strings.HasPrefix(reply, ackPrefix) {
		return delivery{}, false
	}
	const short, long = 9, 11 // tokens; the last one of the long form may be missing
	var tokens [short + 4]string
	n := 0
	for rest, more := reply, true; more && n < len(tokens); n++ {
		tokens[n], rest, more = strings.Cut(rest, ".")
	}
	at := 5 // the token of the sequence
	switch {
	case n >= long:
		at += 2
	case n != short:
		return delivery{}, false
	}
	sequence, err1 := strconv.ParseUint(tokens[at], 10, 64)
	delivered, err2 := strconv.ParseUint(tokens[at+1], 10, 64)
	nanoseconds, err3 := strconv.ParseInt(tokens[at+2], 10, 64)
	return delivery{sequence, delivered, time.Unix(0, nanoseconds).UTC()}, err1 == nil && err2 == nil && err3 == nil
}

// deliveredMessage is a delivered message as the log gives it.
func deliveredMessage(m *nats.Msg, d delivery) events.Message {
	return events.Message{Seq: d.sequence, Time: d.stored, Subject: m.Subject, Header: storedHeader(m.Header), Data: m.Data}
}
