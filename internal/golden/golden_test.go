package golden

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"golang.org/x/mod/sumdb/note"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/audit/export"
	"github.com/ledgerd/ledgerd/internal/backup"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/simci"
	"github.com/ledgerd/ledgerd/internal/tree"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
)

// write makes the files anew: `make golden`. It is for a version that is still
// open; the files of a frozen one never change.
var write = flag.Bool("golden", false, "write the golden files anew")

// What a version left behind, below testdata/v1.
const (
	exportFile  = "ledger.jsonl" // both streams, with the evidence
	headFile    = "head.txt"
	receiptsDir = "receipts"
	backupDir   = "backup"
)

// The key that signs the golden heads. Whoever reads this can sign with it: it
// vouches for nothing.
const (
	signingKey  = "PRIVATE+KEY+ledgerd.invalid/golden+532751f5+AerQYsmqeZFMRIVutLOK24uXEg4b4sm/ESeB4/Ap1UkZ"
	verifierKey = "ledgerd.invalid/golden+532751f5+Aezq9vnE7UlpP57n1YwF9GEqThVNcUtXaCfgiHDNr6LS"
)

var madeAt = time.Date(2026, 10, 1, 10, 0, 0, 0, time.UTC)

func path(elements ...string) string {
	return filepath.Join(append([]string{"testdata", "v1"}, elements...)...)
}

// TestGolden: the files of version 1 are read, proven and made again, byte for
// byte, by the code of today.
func TestGolden(t *testing.T) {
	if *write {
		writeGolden(t)
	}
	text := read(t, path(exportFile))
	arrivals, _ := logsOf(t, exportOf(text))
	again := eventstest.NewLedger()
	audittest.Decide(t, arrivals, again)

	t.Run("replay", func(t *testing.T) { replays(t, exportOf(text)) })
	t.Run("verify", func(t *testing.T) { verifies(t, exportOf(text)) })
	t.Run("decided and exported again", func(t *testing.T) {
		if !bytes.Equal(exported(t, audit.Live(arrivals, again)), text) {
			t.Error("the arrivals give other decisions, or an export prints otherwise; see the replay")
		}
	})
	t.Run("head and receipts", func(t *testing.T) {
		head, receipts := proofs(t, again)
		if !bytes.Equal(head, read(t, path(headFile))) {
			t.Errorf("the head is now\n%s", head)
		}
		kept, err := os.ReadDir(path(receiptsDir))
		if err != nil || len(kept) != len(receipts) || len(kept) == 0 {
			t.Fatalf("%d receipts, %d made again: %v", len(kept), len(receipts), err)
		}
		for name, receipt := range receipts {
			if !bytes.Equal(receipt, read(t, path(receiptsDir, name))) {
				t.Errorf("%s is now\n%s", name, receipt)
			}
			if _, err := tree.VerifyReceipt(read(t, path(receiptsDir, name)), verifierKey); err != nil {
				t.Errorf("%s: %+v", name, err)
			}
		}
	})
	t.Run("backup", func(t *testing.T) {
		b, err := backup.Open(path(backupDir))
		if err != nil {
			t.Fatal(err)
		}
		verifies(t, b.Source())
		replays(t, b.Source())
		if !bytes.Equal(exported(t, b.Source()), text) {
			t.Error("the backup holds another ledger than the export")
		}
	})
}

// writeGolden decides a small simulated plan with every trouble.
func writeGolden(t *testing.T) {
	ci, err := simci.New(simci.Config{Seed: 1, Scenarios: 15, Troubles: simci.EachTrouble()})
	if err != nil {
		t.Fatal(err)
	}
	arrivals, ledger := eventstest.NewArrivals(), eventstest.NewLedger()
	arrivals.Publish(audittest.Arrivals(t, ci)...)
	audittest.Decide(t, arrivals, ledger)
	if err := os.RemoveAll(path()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(path(receiptsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{exportFile: exported(t, audit.Live(arrivals, ledger))}
	head, receipts := proofs(t, ledger)
	files[headFile] = head
	for name, receipt := range receipts {
		files[filepath.Join(receiptsDir, name)] = receipt
	}
	for name, content := range files {
		if err := os.WriteFile(path(name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err = backup.Write(audittest.WithPatience(t), path(backupDir), backup.Config{
		Source: audit.Live(arrivals, ledger), Ledger: datadir.Description{LedgerID: audittest.LedgerID}, TreeHead: string(head), Now: madeAt,
		Streams: map[string]*natsjs.StreamConfig{events.ArrivalsStream: {Name: events.ArrivalsStream}, events.LedgerStream: {Name: events.LedgerStream}},
	})
	if err != nil {
		t.Fatalf("%+v", err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func exported(t *testing.T, source audit.Source) []byte {
	t.Helper()
	var text bytes.Buffer
	if _, err := export.Write(audittest.WithPatience(t), &text, export.Config{Source: source, Ledger: audittest.LedgerID, Evidence: true}); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// logsOf puts what a source holds into streams. Their times are those of the
// golden streams, which are counted from the sequence.
func logsOf(t *testing.T, source audit.Source) (arrivals, ledger *eventstest.Log) {
	t.Helper()
	ctx := audittest.WithPatience(t)
	walk, err := source.Walk(ctx, audit.Selection{Arrivals: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = walk.Close() }()
	arrivals, ledger = eventstest.NewArrivals(), eventstest.NewLedger()
	for {
		portion, err := walk.Next(ctx)
		if errors.Is(err, io.EOF) {
			return arrivals, ledger
		}
		if err != nil || len(portion.Found) > 0 {
			t.Fatalf("%v: %v", portion.Found, err)
		}
		for _, pair := range portion.Pairs {
			arrivals.Publish(events.Outgoing{Subject: pair.Arrival.Subject, Header: pair.Arrival.Header, Data: pair.Arrival.Data})
			ledger.Publish(events.Outgoing{Subject: pair.Decision.Subject, Header: pair.Decision.Header, Data: pair.Decision.Data})
		}
	}
}

// proofs gives the head over the whole ledger, and the receipts of the first
// decision of each kind and outcome.
func proofs(t *testing.T, ledger *eventstest.Log) (head []byte, receipts map[string][]byte) {
	t.Helper()
	ctx := audittest.WithPatience(t)
	signer, err := note.NewSigner(signingKey)
	if err != nil {
		t.Fatal(err)
	}
	store, err := treestore.Open(ctx, treestore.File(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	keys := &tree.Keys{Signer: signer, All: []tree.Key{{Verifier: verifierKey, Since: madeAt}}}
	merkle, err := tree.Open(ctx, tree.Config{Log: ledger, Store: store, Keys: keys, HeadInterval: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	defer run(t, func(ctx context.Context) error { return merkle.Run(ctx) })()
	tail, err := ledger.Tail(ctx)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := merkle.WaitForHead(ctx, int64(tail.Last))
	if err != nil {
		t.Fatalf("%+v", err)
	}
	receipts = map[string][]byte{}
	for seq := uint64(1); seq <= tail.Last; seq++ {
		d, err := events.ReadRecord(get(t, ledger, seq))
		if err != nil {
			t.Fatal(err)
		}
		name := cmp.Or(string(d.Kind), "none") + "." + string(d.Outcome) + ".json"
		if receipts[name] != nil {
			continue
		}
		receipt, err := merkle.Receipt(ctx, int64(d.Index))
		if err != nil {
			t.Fatalf("%+v", err)
		}
		receipts[name] = receipt.Encode()
	}
	return []byte(signed.Note), receipts
}
