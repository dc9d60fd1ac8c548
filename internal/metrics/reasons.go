package metrics

import "github.com/ledgerd/ledgerd/domain"

// reasons are the domain's. A test reads the domain's source and finds what is
// missing here.
var reasons = []domain.Reason{
	domain.ReasonArrivalMalformed,
	domain.ReasonCampaignUnknown,

	domain.ReasonCampaignIdentityMissing,
	domain.ReasonForeignWorkflow,
	domain.ReasonArtifactIdentityInvalid,
	domain.ReasonTargetSourceMismatch,
	domain.ReasonDocumentPathNotRetained,
	domain.ReasonDocumentDigestMismatch,
	domain.ReasonDocumentNotJSON,
	domain.ReasonDocumentNotObject,
	domain.ReasonExecutionNotSelected,
	domain.ReasonAutomaticRetry,
	domain.ReasonResultNotTerminal,
	domain.ReasonProfileMismatch,
	domain.ReasonResultSourceMismatch,
	domain.ReasonAccountingIdentityMissing,
	domain.ReasonTimingInvalid,
	domain.ReasonHostNotQualified,
	domain.ReasonHostProvenanceMismatch,
	domain.ReasonDatabaseArtifactForeign,
	domain.ReasonDatabaseIdentityMismatch,
	domain.ReasonDefinitionMismatch,

	domain.ReasonForeignCampaign,
	domain.ReasonImportVoided,
	domain.ReasonMeasurementConflict,
	domain.ReasonCampaignSealed,
	domain.ReasonUsageMismatch,
	domain.ReasonQualificationMismatch,
	domain.ReasonOutcomeRewritten,
	domain.ReasonScenarioAbsent,
	domain.ReasonDefinitionDrift,

	domain.ReasonCampaignInvalid,
	domain.ReasonCampaignAlreadyOpen,
	domain.ReasonImportUnknown,
	domain.ReasonCheckpointMalformed,
	domain.ReasonCheckpointLimit,
	domain.ReasonCheckpointContradicted,
	domain.ReasonCheckpointConflict,
	domain.ReasonSignatureInvalid,
	domain.ReasonSignatureExpired,
	domain.ReasonSignerNotAllowed,
}

// other stands for a label value that is none of the known ones: a reason that
// an older program does not know.
const other = "other"

// unnamed stands for the kind of an arrival whose subject named none.
const unnamed = "none"

var knownReasons = func() map[domain.Reason]bool {
	known := map[domain.Reason]bool{}
	for _, reason := range reasons {
		known[reason] = true
	}
	return known
}()

func reasonLabel(reason domain.Reason) string {
	if reason == "" || knownReasons[reason] {
		return string(reason)
	}
	return other
}

func outcomeLabel(outcome domain.Outcome) string {
	if outcome.Known() {
		return string(outcome)
	}
	return other
}

func kindLabel(kind domain.Kind) string {
	switch {
	case kind == "":
		return unnamed
	case kind.Known():
		return string(kind)
	}
	return other
}
