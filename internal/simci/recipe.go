package simci

import "github.com/ledgerd/ledgerd/domain"

// phase is a part of a campaign's life. Within one everything is shuffled.
type phase uint8

const (
	beforeOpening phase = iota
	opening
	measuring
	lateness
	sealing
	afterSeal
	phases
)

// variant is a measurement of a slot. All but the first two are an artifact of
// their own.
type variant uint8

const (
	noMeasurement   variant = iota
	mainRun                 // the one that counts
	anotherRun              // by another run
	otherBytes              // with the keys of the main run
	secondAttempt           // of the main run
	otherBranch             // by a run on another branch
	otherReport             // whose result names another run
	otherCampaign           // for another campaign
	otherExecution          // of an execution that is not selected
	otherHost               // on a machine in another region
	notJSON                 // with a broken document
	otherDefinition         // by another definition
)

// tamper is what happens between the artifact and the ledger.
type tamper uint8

const (
	untouched  tamper = iota
	edit              // the result's bytes are changed, its digest is not
	cut               // the arrival ends early
	misaddress        // it goes to a campaign that nobody opened
)

// act is what is published.
type act uint8

const (
	publishCell act = iota
	publishVoid
	publishUnknownVoid
	publishOpening
	publishOtherOpening
	publishSeal
	publishCheckpoint
)

// move is an arrival that a recipe causes, and its answer.
type move struct {
	phase   phase
	act     act
	of      variant // the measurement that a cell or void is about
	tamper  tamper
	reading reading // that a checkpoint arrival is about
	outcome domain.Outcome
	reason  domain.Reason
}

// recipe is all that a trouble causes, in order.
type recipe struct {
	name            string
	status, cleanup string // of the main run; "" is passed
	moves           []move
	either          bool // the order of the moves does not matter, so it is drawn
}

func accepted(of variant) move {
	return move{phase: measuring, of: of, outcome: domain.Accepted}
}

func duplicate(of variant) move {
	return move{phase: measuring, of: of, outcome: domain.Duplicate}
}

func rejected(of variant, reason domain.Reason) move {
	return move{phase: measuring, of: of, outcome: domain.Rejected, reason: reason}
}

func (m move) because(reason domain.Reason) move { m.reason = reason; return m }
func (m move) in(p phase) move                   { m.phase = p; return m }
func (m move) tampered(how tamper) move          { m.tamper = how; return m }
func (m move) publishing(what act) move          { m.act = what; return m }

// beside is a refused copy and the slot's own cell.
func beside(m move) []move { return []move{m, accepted(mainRun)} }

func only(moves ...move) []move { return moves }

func voiding(outcome domain.Outcome) move {
	return move{phase: measuring, act: publishVoid, of: mainRun, outcome: outcome}
}

// read is a checkpoint that is read and published.
func read(what reading, outcome domain.Outcome) move {
	return move{phase: measuring, act: publishCheckpoint, reading: what, outcome: outcome}
}

// recipes are the troubles' recipes.
var recipes = [troublesBehind]recipe{
	None:         {name: "none", moves: only(accepted(mainRun))},
	Late:         {name: "late", moves: only(accepted(mainRun).in(lateness))},
	Repeated:     {name: "repeated", moves: only(accepted(mainRun), duplicate(mainRun))},
	Early:        {name: "early", moves: beside(rejected(mainRun, domain.ReasonCampaignUnknown).in(beforeOpening))},
	Edited:       {name: "edited", either: true, moves: beside(rejected(mainRun, domain.ReasonDocumentDigestMismatch).tampered(edit))},
	WrongBranch:  {name: "wrong branch", either: true, moves: beside(rejected(otherBranch, domain.ReasonForeignWorkflow))},
	WrongRun:     {name: "wrong run", either: true, moves: beside(rejected(otherReport, domain.ReasonResultSourceMismatch))},
	Rerun:        {name: "re-run", either: true, moves: beside(rejected(secondAttempt, domain.ReasonArtifactIdentityInvalid))},
	Foreign:      {name: "foreign", either: true, moves: beside(rejected(otherCampaign, domain.ReasonTargetSourceMismatch))},
	Misaddressed: {name: "misaddressed", either: true, moves: beside(rejected(mainRun, domain.ReasonCampaignUnknown).tampered(misaddress))},
	Unselected:   {name: "unselected", either: true, moves: beside(rejected(otherExecution, domain.ReasonExecutionNotSelected))},
	WrongHost:    {name: "wrong host", either: true, moves: beside(rejected(otherHost, domain.ReasonHostNotQualified))},
	NotJSON:      {name: "not JSON", either: true, moves: beside(rejected(notJSON, domain.ReasonDocumentNotJSON))},
	Malformed:    {name: "malformed", either: true, moves: beside(rejected(mainRun, domain.ReasonArrivalMalformed).tampered(cut))},
	// The definition is asked last: behind the import it would be a conflict.
	Drifted:     {name: "drifted", moves: beside(rejected(otherDefinition, domain.ReasonDefinitionDrift))},
	Conflicting: {name: "conflicting", moves: only(accepted(mainRun), rejected(anotherRun, domain.ReasonMeasurementConflict))},
	Rewritten:   {name: "rewritten", moves: only(accepted(mainRun), rejected(otherBytes, domain.ReasonMeasurementConflict))},
	Failing:     {name: "failing", status: failed, moves: only(accepted(mainRun))},
	Unclean:     {name: "unclean", cleanup: failed, moves: only(accepted(mainRun))},
	Voided: {name: "voided", moves: only(accepted(mainRun), voiding(domain.Accepted),
		rejected(mainRun, domain.ReasonImportVoided))},
	Remeasured: {name: "re-measured", moves: only(accepted(mainRun), voiding(domain.Accepted), voiding(domain.Duplicate),
		rejected(mainRun, domain.ReasonImportVoided), accepted(anotherRun))},
	Missing:       {name: "missing"},
	TooLate:       {name: "too late", moves: only(rejected(mainRun, domain.ReasonCampaignSealed).in(afterSeal))},
	RepeatedLater: {name: "repeated later", moves: only(accepted(mainRun), duplicate(mainRun).in(afterSeal))},

	OpenedAgain: {name: "opened again", moves: only(duplicate(noMeasurement).publishing(publishOpening))},
	OpenedOther: {name: "opened otherwise", moves: only(
		rejected(noMeasurement, domain.ReasonCampaignAlreadyOpen).publishing(publishOtherOpening))},
	VoidedUnknown: {name: "unknown void", moves: only(
		rejected(noMeasurement, domain.ReasonImportUnknown).publishing(publishUnknownVoid))},
	VoidedLater: {name: "void after the seal", moves: only(accepted(mainRun),
		voiding(domain.Rejected).because(domain.ReasonCampaignSealed).in(afterSeal))},
	SealedAgain: {name: "sealed again", moves: only(duplicate(noMeasurement).publishing(publishSeal).in(afterSeal))},

	Awaited:      {name: "awaited", moves: only(read(early, domain.Pending))},
	Settled:      {name: "settled", moves: only(read(early, domain.Pending), read(whole, domain.Accepted))},
	Reread:       {name: "read again", moves: only(read(whole, domain.Accepted), read(whole, domain.Duplicate), read(early, domain.Duplicate))},
	Contradicted: {name: "contradicted", moves: only(read(foreignAgent, domain.Rejected).because(domain.ReasonCheckpointContradicted))},
	Corrected: {name: "corrected", moves: only(read(foreignAgent, domain.Rejected).because(domain.ReasonCheckpointContradicted),
		read(whole, domain.Accepted))},
	Disputed: {name: "disputed", moves: only(read(whole, domain.Accepted),
		read(changedTask, domain.Rejected).because(domain.ReasonCheckpointConflict),
		read(foreignAgent, domain.Rejected).because(domain.ReasonCheckpointContradicted))},
	Outgrown:   {name: "outgrown", moves: only(read(tooMany, domain.Rejected).because(domain.ReasonCheckpointLimit))},
	Unreadable: {name: "unreadable", moves: only(read(otherSchema, domain.Rejected).because(domain.ReasonCheckpointMalformed))},
	SettledLater: {name: "settled later", moves: only(read(early, domain.Pending),
		read(whole, domain.Accepted).in(afterSeal), read(whole, domain.Duplicate).in(afterSeal))},
}
