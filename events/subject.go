package events

import (
	"strings"

	"github.com/ledgerd/ledgerd/domain"
)

// Names of the streams and roots of their subjects.
const (
	ArrivalsStream = "ARRIVALS"
	LedgerStream   = "LEDGER"

	arrivalsRoot  = "ledger.arrivals."
	decisionsRoot = "ledger.decisions."
	committedRoot = "ledger.committed."

	ArrivalsFilter  = arrivalsRoot + ">"
	DecisionsFilter = decisionsRoot + ">"
	CommittedFilter = committedRoot + ">"
)

// malformedSubject is where decisions go whose campaign or kind is no legal
// token.
const malformedSubject = decisionsRoot + "_." + string(domain.Rejected) + ".malformed"

// ArrivalSubject is the subject of an arrival:
// ledger.arrivals.<campaign>.<kind>.
func ArrivalSubject(campaign string, kind domain.Kind) string {
	return arrivalsRoot + campaign + "." + string(kind)
}

// ParseArrivalSubject gives the campaign and kind of an arrival's subject.
// Both are empty, and ok is false, when either is no legal token.
func ParseArrivalSubject(subject string) (campaign string, kind domain.Kind, ok bool) {
	rest, found := strings.CutPrefix(subject, arrivalsRoot)
	if !found {
		return "", "", false
	}
	campaign, last, found := strings.Cut(rest, ".")
	kind = domain.Kind(last)
	if !found || !domain.LegalCampaignID(campaign) || !kind.Known() {
		return "", "", false
	}
	return campaign, kind, true
}

// DecisionSubject is the subject of a decision:
// ledger.decisions.<campaign>.<outcome>.<kind>.
func DecisionSubject(d *domain.Decision) string {
	if d.Campaign == "" || d.Kind == "" {
		return malformedSubject
	}
	return decisionsRoot + d.Campaign + "." + string(d.Outcome) + "." + string(d.Kind)
}

// CampaignFilter matches every decision on a campaign.
func CampaignFilter(campaign string) string { return decisionsRoot + campaign + ".>" }

// AcceptedFilter matches the decisions that made a campaign's state.
func AcceptedFilter(campaign string) string {
	return decisionsRoot + campaign + "." + string(domain.Accepted) + ".>"
}
