package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest/natstest"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/natsclient"
	"github.com/ledgerd/ledgerd/internal/simci"

	natsjs "github.com/nats-io/nats.go/jetstream"
)

// external is a server that no daemon started, with the accounts of
// deploy/nats.
type external struct {
	server *natstest.Server
	creds  map[natsdeploy.Role]string // seed files
}

func startExternal(t testing.TB) *external {
	t.Helper()
	e := &external{creds: map[natsdeploy.Role]string{}}
	dir := t.TempDir()
	public := func(role natsdeploy.Role) string {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, err := pair.Seed()
		if err != nil {
			t.Fatal(err)
		}
		e.creds[role] = filepath.Join(dir, string(role)+".nk")
		if err := os.WriteFile(e.creds[role], seed, 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	keys := natsdeploy.Keys{
		Daemon: public(natsdeploy.Daemon), Provisioner: public(natsdeploy.Provisioner), Operator: public(natsdeploy.Operator),
		Coordinator: public(natsdeploy.Coordinator), Reader: public(natsdeploy.Reader),
	}
	e.server = natstest.Start(t, natstest.Options{Config: natsdeploy.Accounts(keys, natsdeploy.Standard), Listen: true, SyncAlways: true})
	return e
}

// flags are how a command reaches the server in a role.
func (e *external) flags(role natsdeploy.Role) []string {
	return []string{"--nats-url", e.server.URL(), "--nats-creds", e.creds[role]}
}

func (e *external) daemon(t testing.TB, dataDir string, more ...string) *process {
	t.Helper()
	args := append([]string{"--data-dir", dataDir, "--nats-store-bytes", "1073741824"}, e.flags(natsdeploy.Daemon)...)
	return startProcess(t, append(args, more...)...)
}

func (e *external) config(role natsdeploy.Role) natsclient.Config {
	return natsclient.Config{URL: e.server.URL(), Creds: e.creds[role], Role: role, Name: "test"}
}

// reader opens both streams as a reader.
func (e *external) reader(t testing.TB) (arrivals, ledger events.Log) {
	t.Helper()
	conn, _, err := natsclient.Connect(withPatience(t), e.config(natsdeploy.Reader))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := natsjs.NewWithAPIPrefix(conn, natsdeploy.ReaderAPI)
	if err != nil {
		t.Fatal(err)
	}
	return jetstream.OpenDirect(js, events.ArrivalsStream), jetstream.OpenDirect(js, events.LedgerStream)
}

// TestTwoDaemonsOnOneServer publishes to two daemons that both mean to write.
// No decision is lost or interleaved, and the loser says why it stands aside.
func TestTwoDaemonsOnOneServer(t *testing.T) {
	server := startExternal(t)
	first := server.daemon(t, t.TempDir()).awaitReady(t)
	secondDir := t.TempDir()
	second := server.daemon(t, secondDir).awaitReady(t)
	ci, err := simci.New(simci.Config{Seed: 3, Campaigns: 4, Scenarios: 50, Troubles: simci.Demo(3).TroublesOf(0)})
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := natsclient.Connect(withPatience(t), server.config(natsdeploy.Operator))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	plan := outgoingOf(t, ci)
	for len(plan) > 0 { // in pieces, so that both try again and again
		n := min(len(plan), publishChunk)
		if _, err := jetstream.NewPublisher(conn).PublishAll(withPatience(t), plan[:n]); err != nil {
			t.Fatal(err)
		}
		plan = plan[n:]
	}
	arrivalLog, ledgerLog := server.reader(t)
	arrivals := readAll(t, arrivalLog)
	ledger := readUpTo(t, ledgerLog, uint64(len(arrivals)))
	checkLedger(t, arrivals, ledger)
	eventually(t, "one of the two stands aside and says why", func() bool {
		return strings.Contains(first.log.String()+second.log.String(), "another writer holds the ledger")
	})
	checkViews(t, secondDir, ledgerLog, uint64(len(ledger)))
	first.stop(t)
	second.stop(t)
}

// TestAStandbyTakesOver ends the daemon that writes; the other one goes on.
func TestAStandbyTakesOver(t *testing.T) {
	server := startExternal(t)
	daemons := []*process{server.daemon(t, t.TempDir()).awaitReady(t), server.daemon(t, t.TempDir()).awaitReady(t)}
	publish := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			_, stderr, code := runBinary(t, `{"kind":"seal","campaign":"nobody","data":{"actor":"ana"},"id":"`+id+`"}`, "ingest",
				append([]string{"publish", "-", "--wait"}, server.flags(natsdeploy.Operator)...)...)
			if code != 3 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
		}
	}
	publish("1", "2", "3", "4")
	aside := func() *process {
		for _, d := range daemons {
			if strings.Contains(d.log.String(), "stands aside") {
				return d
			}
		}
		return nil
	}
	eventually(t, "one stands aside", func() bool { return aside() != nil })
	for _, d := range daemons {
		if d != aside() {
			d.signal(9)
		}
	}
	publish("5") // waits until the other one has noticed
	arrivalLog, ledgerLog := server.reader(t)
	checkLedger(t, readAll(t, arrivalLog), readAll(t, ledgerLog))
}

// TestAWeakServerIsNamed starts a daemon on streams that may drop messages.
func TestAWeakServerIsNamed(t *testing.T) {
	server := natstest.Start(t, natstest.Options{Listen: true})
	js, err := natsjs.New(server.Connect(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, subject := range map[string]string{events.ArrivalsStream: events.ArrivalsFilter, events.LedgerStream: events.DecisionsFilter} {
		config := natsjs.StreamConfig{Name: name, Subjects: []string{subject}, MaxMsgs: 10, AllowAtomicPublish: true, AllowDirect: true}
		if _, err := js.CreateStream(withPatience(t), config); err != nil {
			t.Fatal(err)
		}
	}
	strict := startProcess(t, "--data-dir", t.TempDir(), "--nats-url", server.URL(), "--strict")
	select {
	case <-strict.ended:
	case <-time.After(patience):
		t.Fatal("--strict serves a server that drops messages")
	}
	if code, log := strict.cmd.ProcessState.ExitCode(), strict.log.String(); code != 1 || !strings.Contains(log, "--strict") || !strings.Contains(log, "hint:") {
		t.Errorf("--strict ends with exit code %d and says\n%s", code, log)
	}
	warned := startProcess(t, "--data-dir", t.TempDir(), "--nats-url", server.URL()).awaitReady(t)
	for _, weakness := range []string{"weakness=dropping", "weakness=removal", "weakness=sync"} {
		if !strings.Contains(warned.log.String(), weakness) {
			t.Errorf("no warning with %s:\n%s", weakness, warned.log)
		}
	}
	warned.stop(t)
}

// eventually waits for a condition that a process brings about.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it does not come true: %s", what)
		}
	}
}
