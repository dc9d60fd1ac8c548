package events_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// FuzzDecodeValidation: any bytes are an input that the gates answer, or are
// refused with what is wrong.
func FuzzDecodeValidation(f *testing.F) {
	const intent = `{"intent":{"campaignId":"chat-review","sourceRevision":"0170e2c8fcfb2bfe32c88471ded3bceadc08f615","selected":` +
		`[{"scenarioId":"tool-approval","executionId":"chat-evidence.runner-opencode-chat.local.tool-approval-r1","remoteOrdinal":1}]},`
	for _, body := range exampleBodies(f, domain.KindCell) {
		if cell, ok := strings.CutPrefix(string(body), "{"); ok {
			f.Add([]byte(intent + cell))
		}
	}
	f.Add([]byte(`{"policy":{"ordinals":[1]},"intent":{"campaignId":7,"selected":[{},{"remoteOrdinal":"1"}]},` +
		`"provenance":{},"result":{"bytes":""},"host":{"base64":""},"definition":{"bytes":"{}"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		input, refusal := events.DecodeValidation(raw)
		if (input == nil) == (refusal == nil) {
			t.Fatal("neither an input nor a refusal, or both")
		}
		if refusal != nil {
			if refusal.Reason != events.ReasonInputMalformed || refusal.Message == "" || !utf8.ValidString(refusal.Field+refusal.Message) ||
				refusal.Field != "" && refusal.Field[0] != '/' {
				t.Fatalf("%+v", refusal)
			}
			return
		}
		if _, refusal := input.Policy.Check(); refusal != nil {
			t.Fatalf("the policy was not checked: %+v", refusal)
		}
		measured, refusal := domain.ValidateCell(input.Intent, input.Policy, &input.Cell)
		switch {
		case (measured == nil) == (refusal == nil):
			t.Fatal("neither a cell nor a refusal, or both")
		case refusal != nil && (refusal.Reason == "" || refusal.Message == "" || refusal.Field == "" || refusal.Field[0] != '/'):
			t.Fatalf("%+v", refusal)
		}
	})
}
