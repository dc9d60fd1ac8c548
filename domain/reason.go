package domain

// Reason is the code of a refusal: stable, for machines; the sentence beside
// it is for people.
type Reason string

// Why an arrival is refused before its campaign is looked at.
const (
	ReasonArrivalMalformed Reason = "arrival_malformed"
	ReasonCampaignUnknown  Reason = "campaign_unknown"
)

// The gates that a cell passes, in this order.
const (
	ReasonCampaignIdentityMissing   Reason = "campaign_identity_missing"
	ReasonForeignWorkflow           Reason = "foreign_workflow"
	ReasonArtifactIdentityInvalid   Reason = "artifact_identity_invalid"
	ReasonTargetSourceMismatch      Reason = "target_source_mismatch"
	ReasonDocumentPathNotRetained   Reason = "document_path_not_retained"
	ReasonDocumentDigestMismatch    Reason = "document_digest_mismatch"
	ReasonDocumentNotJSON           Reason = "document_not_json"
	ReasonDocumentNotObject         Reason = "document_not_object"
	ReasonExecutionNotSelected      Reason = "execution_not_selected"
	ReasonAutomaticRetry            Reason = "automatic_retry"
	ReasonResultNotTerminal         Reason = "result_not_terminal"
	ReasonProfileMismatch           Reason = "profile_mismatch"
	ReasonResultSourceMismatch      Reason = "result_source_mismatch"
	ReasonAccountingIdentityMissing Reason = "accounting_identity_missing"
	ReasonTimingInvalid             Reason = "timing_invalid"
	ReasonHostNotQualified          Reason = "host_not_qualified"
	ReasonHostProvenanceMismatch    Reason = "host_provenance_mismatch"
	ReasonDatabaseArtifactForeign   Reason = "database_artifact_foreign"
	ReasonDatabaseIdentityMismatch  Reason = "database_identity_mismatch"
	ReasonDefinitionMismatch        Reason = "definition_mismatch"
)

// Why a valid cell is refused by the campaign it is meant for.
const (
	ReasonForeignCampaign       Reason = "foreign_campaign"
	ReasonImportVoided          Reason = "import_voided"
	ReasonMeasurementConflict   Reason = "measurement_conflict"
	ReasonCampaignSealed        Reason = "campaign_sealed"
	ReasonUsageMismatch         Reason = "usage_mismatch"
	ReasonQualificationMismatch Reason = "qualification_mismatch"
	ReasonOutcomeRewritten      Reason = "outcome_rewritten"
	ReasonScenarioAbsent        Reason = "scenario_absent"
	ReasonDefinitionDrift       Reason = "definition_drift"
)

// Why a campaign, a void or a checkpoint is refused.
const (
	ReasonCampaignInvalid        Reason = "campaign_invalid"
	ReasonCampaignAlreadyOpen    Reason = "campaign_already_open"
	ReasonImportUnknown          Reason = "import_unknown"
	ReasonCheckpointMalformed    Reason = "checkpoint_malformed"
	ReasonCheckpointLimit        Reason = "checkpoint_limit"
	ReasonCheckpointContradicted Reason = "checkpoint_contradicted"
	ReasonCheckpointConflict     Reason = "checkpoint_conflict"
)

// Why a signed arrival, or one that had to be, is refused.
const (
	ReasonSignatureInvalid Reason = "signature_invalid"
	ReasonSignatureExpired Reason = "signature_expired"
	ReasonSignerNotAllowed Reason = "signer_not_allowed"
)

// OfSigner reports whether r refuses who published an arrival and says nothing
// of what is in it: no claim of such a cell is counted or summed.
func (r Reason) OfSigner() bool {
	return r == ReasonSignatureInvalid || r == ReasonSignatureExpired || r == ReasonSignerNotAllowed
}

// Refusal says why an arrival does not count.
type Refusal struct {
	Reason  Reason // the code
	Field   string // JSON Pointer from the arrival's data, into the parsed document where one is named; "" for the whole
	Message string // a sentence a person can act on
}

func refuse(reason Reason, field, message string) *Refusal {
	return &Refusal{Reason: reason, Field: field, Message: message}
}
