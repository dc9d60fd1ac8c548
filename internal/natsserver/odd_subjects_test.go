package natsserver_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

// oddSubjects are within a coordinator's permission, and no permission can leave
// them out. The server stores them, and does not trust its own index of the
// stream afterwards.
var oddSubjects = []string{
	"ledger.arrivals.\xff.cell",
	"ledger.arrivals.a\x00b.cell",
	"ledger.arrivals.>.cell",
	"ledger.arrivals.\ufffd.checkpoint",
}

// TestOddSubjects: an arrival at such a subject costs the next start a read of
// the whole stream, which is said in plain words, and nothing else.
func TestOddSubjects(t *testing.T) {
	for _, odd := range oddSubjects {
		t.Run(odd, func(t *testing.T) {
			l := startLedger(t)
			subjects := []string{"ledger.arrivals.c1.cell", odd, "ledger.arrivals.c2.cell"}
			for restart := range 3 {
				conn := l.connect(t, natsdeploy.Coordinator, nats.SkipSubjectValidation())
				for i, subject := range subjects {
					if want, ack := uint64(restart*len(subjects)+i+1), publish(t, conn, subject, `{}`); ack.Sequence != want {
						t.Errorf("start %d: %q is stored at %d, want %d", restart, subject, ack.Sequence, want)
					}
				}
				l.Stop()
				srv, err := natsserver.Start(testContext(t), l.cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(srv.Stop)
				l.Server = srv
			}
			if log := l.logs.String(); !strings.Contains(log, "nothing is lost") {
				t.Errorf("the log does not say that it is harmless:\n%s", log)
			}
			arrivals, err := l.daemonJetStream(t).Stream(testContext(t), "ARRIVALS")
			if err != nil {
				t.Fatal(err)
			}
			if last, want := arrivals.CachedInfo().State, uint64(3*len(subjects)); last.LastSeq != want || last.Msgs != want {
				t.Errorf("ARRIVALS holds %d messages up to %d, want %d", last.Msgs, last.LastSeq, want)
			}
			for seq := range uint64(3 * len(subjects)) {
				m, err := arrivals.GetMsg(testContext(t), seq+1)
				if err != nil {
					t.Fatal(err)
				}
				if want := subjects[seq%uint64(len(subjects))]; m.Subject != want {
					t.Errorf("sequence %d is at %q, want %q", seq+1, m.Subject, want)
				}
			}
		})
	}
}
