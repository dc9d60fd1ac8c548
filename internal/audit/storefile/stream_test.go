package storefile_test

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// readAll reads a stream to its end.
func readAll(t *testing.T, stream audit.Stream) (messages []events.Message, found []audit.Finding) {
	t.Helper()
	reader, err := stream.Open(audittest.WithPatience(t), "")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for {
		more, damage, err := reader.Next(audittest.WithPatience(t))
		messages, found = append(messages, more...), append(found, damage...)
		if errors.Is(err, io.EOF) {
			return messages, found
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadsWhatTheServerReads compares the files, message by message, with what
// the server gives that wrote them: stopped and started twice, restarted in the
// middle.
func TestReadsWhatTheServerReads(t *testing.T) {
	dir := t.TempDir()
	ci, err := simci.New(simci.Demo(3))
	if err != nil {
		t.Fatal(err)
	}
	batch := audittest.Arrivals(t, ci)
	for i := range 10 { // more than a block holds
		large := events.Outgoing{Subject: "ledger.arrivals.large.cell", Header: events.Header{events.HeaderMsgID: {fmt.Sprint("large-", i)}}}
		large.Data = bytes.Repeat([]byte{byte(i)}, 1_000_000)
		batch = append(batch, large)
	}
	for _, part := range [][]events.Outgoing{batch[:50], batch[50:]} { // the second part behind a restart
		s := audittest.Start(t, dir)
		s.Publish(part)
		s.Decide()
		s.Stop()
	}
	s := audittest.Start(t, dir)
	arrivals, ledger := s.Logs()
	want := map[string][]events.Message{}
	for name, log := range map[string]events.Log{events.ArrivalsStream: arrivals, events.LedgerStream: ledger} {
		for seq := range uint64(len(batch)) {
			m, err := log.Get(audittest.WithPatience(t), seq+1)
			if err != nil {
				t.Fatal(err)
			}
			want[name] = append(want[name], *m)
		}
	}
	s.Stop()
	for name, messages := range want {
		got, found := readAll(t, storefile.Stream(dir, name))
		if len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		if len(got) != len(messages) {
			t.Errorf("%s: %d messages, want %d", name, len(got), len(messages))
		}
		for i := range min(len(got), len(messages)) {
			if !reflect.DeepEqual(got[i], messages[i]) {
				t.Fatalf("%s: %.500v\nwant %.500v", name, got[i], messages[i])
			}
		}
		config, err := storefile.Config(dir, name)
		if err != nil || config.Name != name || config.Metadata["ledgerd-ledger-id"] != audittest.LedgerID {
			t.Errorf("%+v, %v", config, err)
		}
	}
	if files := ledgerFiles(t, dir); len(files) < 9 {
		t.Errorf("too few for several blocks: %v", files)
	}
}

func TestOfNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := storefile.Stream(dir, events.LedgerStream).Open(audittest.WithPatience(t), ""); !errors.Is(err, storefile.ErrNoStream) {
		t.Error(err)
	}
	audittest.Start(t, dir).Stop()
	if messages, found := readAll(t, storefile.Stream(dir, events.LedgerStream)); len(messages) > 0 || len(found) > 0 {
		t.Errorf("%v %v", messages, found)
	}
}
