package jetstream_test

import (
	"testing"

	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

// systemAccess lets the ledger's account ask the servers for their JetStream
// configuration.
const systemAccess = `
system_account: SYS
accounts {
  LEDGER {
    jetstream: enabled
    users: [{user: ledger, password: x}]
    imports: [{service: {account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ"}}]
  }
  SYS { exports: [{service: "$SYS.REQ.SERVER.PING.JSZ", response: stream}] }
}`

func TestAskSync(t *testing.T) {
	for want, options := range map[jetstream.Sync]natstest.Options{
		jetstream.SyncAlways:  {Config: systemAccess, SyncAlways: true},
		jetstream.SyncRelaxed: {Config: systemAccess},
		jetstream.SyncUnknown: {Config: accounts, SyncAlways: true}, // nobody may ask there
	} {
		conn := natstest.Start(t, options).Connect(t, as("ledger"))
		if got := jetstream.AskSync(contextFor(t), conn); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		conn.Close()
		if got := jetstream.AskSync(contextFor(t), conn); got != jetstream.SyncUnknown {
			t.Errorf("%s on a closed connection", got)
		}
	}
}

// TestSyncOf: only a plain yes is one.
func TestSyncOf(t *testing.T) {
	for answer, want := range map[string]jetstream.Sync{
		`{"data":{"config":{"sync_always":true}}}`:  jetstream.SyncAlways,
		`{"data":{"config":{"sync_always":false}}}`: jetstream.SyncRelaxed,
		`{"data":{"config":{}}}`:                    jetstream.SyncRelaxed,
		`{"data":{}}`:                               jetstream.SyncUnknown,
		`{"error":{"code":503}}`:                    jetstream.SyncUnknown,
		`{`:                                         jetstream.SyncUnknown,
		``:                                          jetstream.SyncUnknown,
	} {
		if got := jetstream.SyncOf([]byte(answer)); got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}
