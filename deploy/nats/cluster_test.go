package natsdeploy_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
	"github.com/ledgerd/ledgerd/internal/decisions"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

const storeBytes = 256 << 20

// TestSingleServer runs server.conf: what it keeps has no weakness.
func TestSingleServer(t *testing.T) {
	s := prepare(t)
	t.Setenv("LEDGERD_SERVER_NAME", "nats-1")
	t.Setenv("LEDGERD_NATS_SERVER_LISTEN", freeAddress(t))
	t.Setenv("LEDGERD_STORE_DIR", t.TempDir())
	url := tlsURL(s.run(t, "server.conf"))
	s.provision(t, natsdeploy.Daemon, url, 1)
	s.wantNoWeakness(t, url)
	s.useLedger(t, url)
}

// TestCluster runs cluster.conf three times, with three copies of each stream,
// and goes on when one server is away.
func TestCluster(t *testing.T) {
	s := prepare(t)
	urls := s.runCluster(t)
	s.provision(t, natsdeploy.Provisioner, urls, 3)
	s.wantNoWeakness(t, urls)
	s.useLedger(t, urls)
	s.servers[2].Shutdown()
	s.servers[2].WaitForShutdown()
	s.goOn(t, urls)
}

// runCluster starts the three and returns when they have agreed on a leader.
// The file is the same for all; the environment is read when it is.
func (s *site) runCluster(t *testing.T) (urls string) {
	t.Helper()
	var listen [3]string
	for i := range listen {
		listen[i] = freeAddress(t)
		t.Setenv(fmt.Sprint("LEDGERD_ROUTE_", i+1), "nats-route://"+listen[i])
	}
	var addresses []string
	for i := range listen {
		t.Setenv("LEDGERD_SERVER_NAME", fmt.Sprint("nats-", i+1))
		t.Setenv("LEDGERD_NATS_SERVER_LISTEN", freeAddress(t))
		t.Setenv("LEDGERD_NATS_CLUSTER_LISTEN", listen[i])
		t.Setenv("LEDGERD_STORE_DIR", t.TempDir())
		addresses = append(addresses, tlsURL(s.run(t, "cluster.conf")))
	}
	return strings.Join(addresses, ",")
}

func tlsURL(srv *server.Server) string {
	return strings.Replace(srv.ClientURL(), "nats://", "tls://", 1)
}

// provision makes the streams, as soon as the servers are ready for it.
func (s *site) provision(t *testing.T, role natsdeploy.Role, url string, replicas int) {
	t.Helper()
	js, ctx := s.jetStream(t, role, url), testContext(t)
	limits := jetstream.Limits{LedgerID: "test", Replicas: replicas, StoreBytes: storeBytes}
	again(ctx, t, func() error { return jetstream.Provision(ctx, js, limits) })
	for _, name := range []string{events.ArrivalsStream, events.LedgerStream} {
		stream, err := js.Stream(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if got := stream.CachedInfo().Config.Replicas; got != replicas {
			t.Errorf("%s has %d copies, want %d", name, got, replicas)
		}
	}
}

// again does something until it is not refused for now.
func again(ctx context.Context, t *testing.T, do func() error) {
	t.Helper()
	for {
		err := do()
		switch {
		case err == nil:
			return
		case ctx.Err() != nil || !errors.IsAny(err, events.ErrUnavailable, events.ErrStateUnknown):
			t.Fatalf("%+v", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond): // elections have no signal
		}
	}
}

func (s *site) wantNoWeakness(t *testing.T, url string) {
	t.Helper()
	js := s.jetStream(t, natsdeploy.Daemon, url)
	sync := jetstream.AskSync(testContext(t), js.Conn())
	if sync != jetstream.SyncAlways {
		t.Errorf("the servers sync %s", sync)
	}
	found, err := jetstream.Inspect(testContext(t), js, sync)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("weaknesses: %v", found)
	}
}

const arrivals = 20

// useLedger goes an arrival's whole way: published by operator and
// coordinator, decided by the daemon, asked for by all, read by a reader.
func (s *site) useLedger(t *testing.T, url string) {
	t.Helper()
	daemon := s.jetStream(t, natsdeploy.Daemon, url)
	s.publish(t, natsdeploy.Operator, url, domain.KindCampaign, 1, 1)
	s.publish(t, natsdeploy.Coordinator, url, domain.KindCell, 2, arrivals-1)
	stop := s.serveDecisions(t, daemon)
	defer stop()
	decide(t, daemon, 0, arrivals)
	for _, role := range natsdeploy.Outside() {
		s.wantDecisions(t, role, url, arrivals)
	}
	reader := s.jetStream(t, natsdeploy.Reader, url)
	for _, name := range []string{events.ArrivalsStream, events.LedgerStream} {
		if got := readAll(t, jetstream.OpenDirect(reader, name), arrivals); got != arrivals {
			t.Errorf("a reader reads %d of %s, want %d", got, name, arrivals)
		}
	}
}

// goOn does the same with what comes next, while servers elect.
func (s *site) goOn(t *testing.T, url string) {
	t.Helper()
	daemon, ctx := s.jetStream(t, natsdeploy.Daemon, url), testContext(t)
	publisher := jetstream.NewPublisher(s.connect(t, natsdeploy.Coordinator, url))
	out := arrival(t, domain.KindCell, arrivals+1)
	again(ctx, t, func() error {
		sequence, err := publisher.Publish(ctx, out)
		if err == nil && sequence != arrivals+1 {
			t.Errorf("sequence %d", sequence)
		}
		return err
	})
	ledger := jetstream.Open(daemon, events.LedgerStream)
	again(ctx, t, func() error {
		tail, err := ledger.Tail(ctx)
		if err == nil && tail.Last == arrivals {
			_, err = ledger.Append(ctx, arrivals, records(t, events.RecordHash(tail.End.Data), arrivals, 1))
		}
		return err
	})
	if tail, err := ledger.Tail(ctx); err != nil || tail.Last != arrivals+1 {
		t.Errorf("%+v, %v", tail, err)
	}
}

func arrival(t *testing.T, kind domain.Kind, n int) events.Outgoing {
	t.Helper()
	out, err := events.NewArrival("c", kind, []byte("{}"), fmt.Sprint("id-", n), "/test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *site) publish(t *testing.T, role natsdeploy.Role, url string, kind domain.Kind, from, n int) {
	t.Helper()
	var batch []events.Outgoing
	for i := range n {
		batch = append(batch, arrival(t, kind, from+i))
	}
	results, err := jetstream.NewPublisher(s.connect(t, role, url)).PublishAll(testContext(t), batch)
	if err != nil {
		t.Fatalf("%s: %+v", role, err)
	}
	for i, result := range results {
		if result.Sequence != uint64(from+i) {
			t.Errorf("%s: message %d is %+v", role, from+i, result)
		}
	}
}

// records are refusals of the arrivals behind a sequence.
func records(t *testing.T, prev string, after uint64, n int) []events.Outgoing {
	t.Helper()
	var batch []events.Outgoing
	for i := range uint64(n) {
		decision, err := domain.Decide(domain.RuleVersion, nil, &domain.Arrival{
			Seq: after + i + 1, ID: "id", SHA256: strings.Repeat("a", 64), Campaign: "c", Kind: domain.KindSeal, Seal: &domain.SealRequest{},
		})
		if err != nil {
			t.Fatal(err)
		}
		decision.Prev = prev
		record, err := events.EncodeRecord(decision)
		if err != nil {
			t.Fatal(err)
		}
		prev = events.RecordHash(record)
		batch = append(batch, events.NewDecisionMessage(decision, record, "epoch", "host"))
	}
	return batch
}

func decide(t *testing.T, daemon natsjs.JetStream, after uint64, n int) {
	t.Helper()
	ledger := jetstream.Open(daemon, events.LedgerStream)
	last, err := ledger.Append(testContext(t), after, records(t, events.GenesisHash, after, n))
	if err != nil || last != after+uint64(n) {
		t.Fatalf("%d, %+v", last, err)
	}
	// A second writer with the same idea of the end stores nothing.
	if _, err := ledger.Append(testContext(t), after, records(t, events.GenesisHash, after, n)); !errors.Is(err, events.ErrMoved) {
		t.Errorf("%+v", err)
	}
}

func (s *site) serveDecisions(t *testing.T, daemon natsjs.JetStream) (stop func()) {
	t.Helper()
	service, err := decisions.New(decisions.Config{Conn: daemon.Conn(), Ledger: jetstream.Open(daemon, events.LedgerStream)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func (s *site) wantDecisions(t *testing.T, role natsdeploy.Role, url string, n uint64) {
	t.Helper()
	var sequences []uint64
	for i := range n {
		sequences = append(sequences, i+1)
	}
	var got uint64
	for decided, err := range decisions.WaitAll(testContext(t), s.connect(t, role, url), slices.Values(sequences)) {
		if err != nil || decided.Sequence != got+1 {
			t.Fatalf("%s: %+v, %v", role, decided, err)
		}
		got++
	}
	if got != n {
		t.Errorf("%s: %d decisions", role, got)
	}
}

func readAll(t *testing.T, log events.Log, n int) (got int) {
	t.Helper()
	cursor, err := log.Read(testContext(t), 1)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	defer cursor.Close()
	for got < n {
		messages, err := cursor.Next(testContext(t))
		if err != nil {
			t.Fatalf("%+v", err)
		}
		got += len(messages)
	}
	return got
}

// TestTLSIsNeeded: who does not speak it, or does not trust the CA, gets no
// connection and a hint.
func TestTLSIsNeeded(t *testing.T) {
	s := prepare(t)
	t.Setenv("LEDGERD_SERVER_NAME", "nats-1")
	t.Setenv("LEDGERD_NATS_SERVER_LISTEN", freeAddress(t))
	t.Setenv("LEDGERD_STORE_DIR", t.TempDir())
	url := tlsURL(s.run(t, "server.conf"))
	distrustful := s.config(natsdeploy.Reader, url)
	distrustful.CA = ""
	_, _, err := natsclient.Connect(testContext(t), distrustful)
	if !errors.Is(err, natsclient.ErrUnreachable) || !strings.Contains(strings.Join(errors.GetAllHints(err), ""), "--nats-ca") {
		t.Errorf("%v (%v)", err, errors.GetAllHints(err))
	}
	stranger := s.config(natsdeploy.Reader, url)
	stranger.Creds = ""
	if _, _, err := natsclient.Connect(testContext(t), stranger); !errors.Is(err, natsclient.ErrNotAuthorised) {
		t.Errorf("without a key: %v", err)
	}
	if conn, err := nats.Connect(strings.Replace(url, "tls://", "nats://", 1)); err == nil {
		conn.Close()
		t.Error("a connection was made without the CA and without a key")
	}
}

// TestExampleNamesEveryVariable: what the files ask for is in the example, and
// nothing else is.
func TestExampleNamesEveryVariable(t *testing.T) {
	asked := map[string]bool{}
	variable := regexp.MustCompile(`\$(LEDGERD_[A-Z0-9_]+)`)
	for _, file := range []string{"accounts.conf", "common.conf", "server.conf", "cluster.conf"} {
		for _, match := range variable.FindAllStringSubmatch(read(t, file), -1) {
			asked[match[1]] = true
		}
	}
	named := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^(LEDGERD_[A-Z0-9_]+)=`).FindAllStringSubmatch(read(t, "keys.env.example"), -1) {
		named[match[1]] = true
	}
	for name := range asked {
		if !named[name] {
			t.Errorf("%s is not in keys.env.example", name)
		}
	}
	for name := range named {
		if !asked[name] {
			t.Errorf("nothing asks for %s", name)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
