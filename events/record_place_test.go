package events_test

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// ledgerMessage is a message of LEDGER as the writer stores it.
func ledgerMessage(t *testing.T) *events.Message {
	t.Helper()
	d := decision(domain.KindCell, domain.Accepted, importedCell())
	record, err := events.EncodeRecord(d)
	if err != nil {
		t.Fatal(err)
	}
	return &events.Message{Seq: d.Arrival.Seq, Subject: events.DecisionSubject(d), Data: record}
}

func TestReadRecordRefusesWhatIsNotInItsPlace(t *testing.T) {
	version := func(v string) func(*events.Message) {
		return func(m *events.Message) {
			m.Data = bytes.Replace(m.Data, []byte(`{"v":1,`), []byte(`{"v":`+v+`,`), 1)
		}
	}
	for name, test := range map[string]struct {
		change func(*events.Message)
		want   error
	}{
		"as stored":        {func(*events.Message) {}, nil},
		"another sequence": {func(m *events.Message) { m.Seq++ }, events.ErrRecordMisplaced},
		"no sequence":      {func(m *events.Message) { m.Seq = 0 }, events.ErrRecordMisplaced},
		"another campaign": {func(m *events.Message) { m.Subject = "ledger.decisions.other.accepted.cell" }, events.ErrRecordMisplaced},
		"another outcome":  {func(m *events.Message) { m.Subject = "ledger.decisions.chat-review.rejected.cell" }, events.ErrRecordMisplaced},
		"no record":        {func(m *events.Message) { m.Data = []byte("{}") }, events.ErrRecordMalformed},
		"version 0":        {version("0"), events.ErrRecordMalformed},
		"later rules":      {version("2147483647"), domain.ErrUnknownRules},
		"later rules with a member that no older record has": {func(m *events.Message) {
			version("2147483647")(m)
			m.Data = bytes.Replace(m.Data, []byte(`"arrival":`), []byte(`"more":1,"arrival":`), 1)
		}, domain.ErrUnknownRules},
	} {
		t.Run(name, func(t *testing.T) {
			m := ledgerMessage(t)
			test.change(m)
			d, err := events.ReadRecord(m)
			if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Fatalf("%v, want %v", err, test.want)
			}
			if errors.Is(err, domain.ErrUnknownRules) && len(errors.GetAllHints(err)) == 0 {
				t.Error("nothing is said of what to do")
			}
			if err == nil && d.Arrival.Seq != m.Seq {
				t.Errorf("%+v", d)
			}
			if test.want == nil || name != "another campaign" && name != "another outcome" { // no subject, no such check
				if _, err := events.ReadRecordAt(m.Seq, m.Data); !errors.Is(err, test.want) {
					t.Errorf("without its subject: %v", err)
				}
			}
		})
	}
}

// The link of a record is read whatever rules the rest of it follows.
func TestReadLink(t *testing.T) {
	m := ledgerMessage(t)
	want := events.Link{V: 1, Index: 41, Prev: digest}
	if link, err := events.ReadLinkOf(m); err != nil || link != want {
		t.Errorf("%+v: %v", link, err)
	}
	want.V = 77
	later := []byte(`{"v":77,"index":41,"prev":"` + digest + `","what":"nobody knows yet"}`)
	if link, err := events.ReadLink(later); err != nil || link != want {
		t.Errorf("%+v: %v", link, err)
	}
	m.Seq++
	if _, err := events.ReadLinkOf(m); !errors.Is(err, events.ErrRecordMisplaced) {
		t.Error(err)
	}
	for name, record := range map[string]string{
		"empty":        ``,
		"no version":   `{"index":41,"prev":"` + digest + `",`,
		"version 0":    `{"v":0,"index":41,"prev":"` + digest + `",`,
		"leading zero": `{"v":01,"index":41,"prev":"` + digest + `",`,
		"no hash":      `{"v":1,"index":41,"prev":"` + digest[1:] + `",`,
		"upper case":   `{"v":1,"index":41,"prev":"` + "A" + digest[1:] + `",`,
		"cut off":      `{"v":1,"index":41,"prev":"` + digest,
	} {
		if link, err := events.ReadLink([]byte(record)); !errors.Is(err, events.ErrRecordMalformed) {
			t.Errorf("%s: %+v: %v", name, link, err)
		}
	}
}

func TestLinkFollows(t *testing.T) {
	first, later := events.Link{V: 1, Prev: events.GenesisHash}, events.Link{V: 1, Index: 41, Prev: digest}
	for name, test := range map[string]struct {
		link events.Link
		seq  uint64
		hash string
		want error
	}{
		"first":         {first, 0, "", nil},
		"later":         {later, 41, digest, nil},
		"left out":      {later, 40, digest, events.ErrChainBroken},
		"again":         {later, 42, digest, events.ErrChainBroken},
		"another hash":  {later, 41, events.GenesisHash, events.ErrChainBroken},
		"not the first": {events.Link{V: 1, Prev: digest}, 0, digest, events.ErrChainBroken},
	} {
		if err := test.link.Follows(test.seq, test.hash); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}
