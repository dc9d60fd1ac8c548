package events

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
)

// maxRecordYear is the last year that a record's time can print.
const maxRecordYear = 9999

// checkDecision holds what is true of every record, before one is printed and
// after one was read.
func checkDecision(d *domain.Decision) error {
	var wrong string
	switch {
	case d.V < 1:
		wrong = "the rule version is not positive"
	case d.Arrival.Seq != d.Index+1 || d.Arrival.Seq == 0:
		wrong = "arrival.seq is not index + 1"
	case !isDigest(d.Prev):
		wrong = "prev is no SHA-256"
	case !isDigest(d.Arrival.SHA256):
		wrong = "arrival.sha256 is no SHA-256"
	case d.Arrival.Time.UTC().Year() < 0 || d.Arrival.Time.UTC().Year() > maxRecordYear:
		wrong = "arrival.time is out of range"
	case (d.Campaign == "") != (d.Kind == ""):
		wrong = "campaign and kind are not both empty"
	case d.Campaign != "" && !domain.LegalCampaignID(d.Campaign):
		wrong = "the campaign is no legal id"
	case d.Kind != "" && !d.Kind.Known():
		wrong = "the kind is unknown"
	default:
		wrong = wrongOutcome(d)
	}
	if wrong == "" {
		return nil
	}
	return errors.Wrapf(ErrRecordMalformed, "decision %d: %s", d.Index, wrong)
}

// wrongOutcome says what does not go with the decision's outcome, "" when all
// does.
func wrongOutcome(d *domain.Decision) string {
	switch {
	case !d.Outcome.Known():
		return "the outcome is unknown"
	case d.Outcome == domain.Pending && d.Kind != domain.KindCheckpoint:
		return "only a checkpoint can be pending"
	case (d.Outcome == domain.Rejected) != (d.Reason != ""):
		return "exactly a rejected decision has a reason"
	case (d.Outcome == domain.Duplicate) != (d.Repeats != nil):
		return "exactly a duplicate repeats a decision"
	case d.Repeats != nil && *d.Repeats >= d.Index:
		return "it repeats a decision that is not before it"
	case d.Outcome != domain.Rejected && d.Accepted == nil:
		return "it counts no accepted decisions of its campaign"
	case d.Kind == "" && d.Accepted != nil:
		return "it names no campaign and counts its decisions"
	case !sameNull(d):
		return "of what the campaign's decisions count, some is null and some is not"
	case d.CampaignPrev != nil && (!isDigest(*d.CampaignPrev) || (*d.CampaignIndex == 0) != (*d.CampaignPrev == GenesisHash)):
		return "campaignPrev is no SHA-256, or the first one's elsewhere"
	case d.Kind == "" && d.Outcome != domain.Rejected:
		return "it names no campaign and is not rejected"
	case d.Outcome == domain.Accepted && d.Data == nil:
		return "it is accepted and has no data"
	}
	return ""
}

// sameNull reports whether all that a record says of its campaign is null, or
// nothing.
func sameNull(d *domain.Decision) bool {
	unknown := d.Accepted == nil
	return (d.Refused == nil) == unknown && (d.RefusedFailed == nil) == unknown &&
		(d.CampaignIndex == nil) == unknown && (d.CampaignPrev == nil) == unknown
}

// isDigest reports whether s is 64 lower hex digits.
func isDigest(s string) bool {
	if len(s) != len(GenesisHash) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
