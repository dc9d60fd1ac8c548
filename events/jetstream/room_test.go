package jetstream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/events/jetstream"
)

// opening selects one cell of each of n scenarios, with as little around it as
// is legal.
func opening(n int, id func(int) string) string {
	var scenarios, selected []string
	for i := range n {
		scenarios = append(scenarios, fmt.Sprintf(`{"id":%q}`, id(i)))
		selected = append(selected, fmt.Sprintf(`{"scenarioId":%q,"executionId":"%d","remoteOrdinal":1}`, id(i), i))
	}
	return fmt.Sprintf(`{"sourceRevision":"%040d","policyPreset":%q,"scenarios":[%s],"selected":[%s]}`,
		0, domain.PresetPaperclipChat, strings.Join(scenarios, ","), strings.Join(selected, ","))
}

// TestAnswersFitTheirRoom decides arrivals whose answers are as large as they
// get beside them: what LEDGER keeps of them must stay within what ARRIVALS'
// bounds leave for it.
func TestAnswersFitTheirRoom(t *testing.T) {
	short := func(i int) string { return fmt.Sprint(i) }
	long := func(i int) string { return fmt.Sprintf("%0200d", i) }
	type fact struct {
		kind domain.Kind
		body string
	}
	seal := fact{domain.KindSeal, `{"actor":"a"}`}
	for name, facts := range map[string][]fact{
		"largest grid with least around it": {{domain.KindCampaign, opening(domain.MaxScenarios, short)}, seal, seal},
		"one cell":                          {{domain.KindCampaign, opening(1, short)}, seal},
		"longest names in the seal":         {{domain.KindCampaign, opening(20, long)}, seal},
		"many long names":                   {{domain.KindCampaign, opening(500, long)}, seal},
		"unknown campaign":                  {{domain.KindVoid, `{"importKey":"k","actor":"a","reason":"r"}`}},
		"nothing at all":                    {{domain.KindCell, ``}},
		"names that are escaped":            {{domain.KindCell, `{"` + strings.Repeat(`\u0001`, 2000) + `":1}`}},
		"unknown members":                   {{domain.KindVoid, `{"` + strings.Repeat("x", 2000) + `":1}`}},
	} {
		t.Run(name, func(t *testing.T) {
			var state *domain.Campaign
			var need, took int64
			for i, f := range facts {
				out, err := events.NewArrival("c", f.kind, []byte(f.body), "id", "/", someTime)
				if err != nil {
					t.Fatal(err)
				}
				// The longest id in a record is of characters that are escaped there.
				// Only other people's producers send such.
				out.Header[events.HeaderID] = []string{strings.Repeat("\x01", events.MaxIDBytes-3) + fmt.Sprintf("%03d", i)}
				out.Header[events.HeaderMsgID] = out.Header[events.HeaderID]
				took += size(out)
				decision, answer := decideAlone(t, state, uint64(i+1), out)
				need += size(answer)
				if state, err = domain.Fold(state, decision, strings.Repeat("f", 64)); err != nil {
					t.Fatal(err)
				}
			}
			if room := jetstream.AnswerRoom(took, int64(len(facts))); need > room {
				t.Errorf("%d arrivals of %d bytes have answers of %d bytes, and %d is reckoned", len(facts), took, need, room)
			}
		})
	}
}

// decideAlone gives the decision on one arrival and its message.
func decideAlone(t *testing.T, state *domain.Campaign, seq uint64, out events.Outgoing) (*domain.Decision, events.Outgoing) {
	t.Helper()
	arrival := events.DecodeArrival(&events.Message{Seq: seq, Time: someTime, Subject: out.Subject, Header: out.Header, Data: out.Data})
	decision, err := domain.Decide(domain.RuleVersion, state, arrival)
	if err != nil {
		t.Fatal(err)
	}
	decision.Prev = events.GenesisHash
	record, err := events.EncodeRecord(decision)
	if err != nil {
		t.Fatal(err)
	}
	return decision, events.NewDecisionMessage(decision, record, strings.Repeat("e", 36), strings.Repeat("h", 64))
}

// size is about what a stream keeps of a message.
func size(out events.Outgoing) int64 {
	total := len(out.Subject) + len(out.Data) + len("NATS/1.0\r\n\r\n") + 32
	for name, values := range out.Header {
		total += len(name) + len(values[0]) + len(": \r\n")
	}
	return int64(total)
}
