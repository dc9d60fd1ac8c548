package events

import (
	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"

	"github.com/ledgerd/ledgerd/domain"
)

// decodeData reads a record's data into the type that [domain.Data] names for
// the kind and outcome.
func decodeData(d *domain.Decision, raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	data := newData(d.Kind, d.Outcome)
	if data == nil {
		return errors.Wrapf(ErrRecordMalformed, "record %d is a %s %s and has data", d.Index, d.Outcome, d.Kind)
	}
	if err := json.Unmarshal(raw, data, json.RejectUnknownMembers(true)); err != nil {
		return errors.Mark(errors.Wrapf(err, "events: data of record %d", d.Index), ErrRecordMalformed)
	}
	d.Data = data
	return nil
}

// newData makes an empty Data of the type for a kind and outcome, nil when a
// decision of that kind and outcome has none.
func newData(kind domain.Kind, outcome domain.Outcome) domain.Data {
	accepted := outcome == domain.Accepted
	switch {
	case kind == domain.KindCampaign && accepted:
		return &domain.Opening{}
	case kind == domain.KindCell && accepted:
		return &domain.CellImported{}
	case kind == domain.KindCell:
		return &domain.CellReference{}
	case kind == domain.KindVoid:
		return &domain.VoidReference{}
	case kind == domain.KindSeal && accepted:
		return &domain.Seal{}
	case kind == domain.KindSeal:
		return &domain.SealRequest{}
	case kind == domain.KindCheckpoint && accepted:
		return &domain.CheckpointBound{}
	case kind == domain.KindCheckpoint:
		return &domain.CheckpointReference{}
	}
	return nil
}

// withoutNegativeZero gives data with 0 for every -0: canonical JSON has no
// -0, and producers may report one. What is changed is a copy. Budgets,
// durations and usages are all the numbers of a Data that are no integers.
func withoutNegativeZero(data domain.Data) domain.Data {
	switch data := data.(type) {
	case *domain.CellImported:
		return cellWithoutNegativeZero(data)
	case *domain.Opening:
		if data.Budget != nil && isNegativeZero(data.Budget.CostUSD) {
			changed := *data
			changed.Budget = &domain.Budget{}
			return &changed
		}
	}
	return data
}

func cellWithoutNegativeZero(data *domain.CellImported) *domain.CellImported {
	duration := isNegativeZero(data.Result.DurationMS)
	tokens := data.Usage.Tokens != nil && isNegativeZero(*data.Usage.Tokens)
	cost := data.Usage.CostUSD != nil && isNegativeZero(*data.Usage.CostUSD)
	if !duration && !tokens && !cost {
		return data
	}
	changed := *data
	if duration {
		changed.Result.DurationMS = 0
	}
	if tokens {
		changed.Usage.Tokens = new(float64)
	}
	if cost {
		changed.Usage.CostUSD = new(float64)
	}
	return &changed
}

func isNegativeZero(n float64) bool { return n == 0 && 1/n < 0 }
