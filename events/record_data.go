package events

import (
	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain"
)

// decodeData reads a record's data into the payload type that the rules of its
// version have for the kind and outcome.
func decodeData(d *domain.Decision, raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	rules, err := domain.RulesOf(d.V)
	if err != nil {
		return errors.Mark(err, ErrRecordMalformed) // no version at all: DecodeRecord knows the others
	}
	data := rules.NewData(d.Kind, d.Outcome)
	if data == nil {
		return errors.Wrapf(ErrRecordMalformed, "record %d is a %s %s and has data", d.Index, d.Outcome, d.Kind)
	}
	if err := json.Unmarshal(raw, data, json.RejectUnknownMembers(true)); err != nil {
		return errors.Mark(errors.Wrapf(err, "events: data of record %d", d.Index), ErrRecordMalformed)
	}
	d.Data = data
	return nil
}
