package simci

// Trouble is what goes wrong with a slot, a whole campaign, or the checkpoint
// of a run.
type Trouble uint8

// The troubles of a slot. Each slot has at most one.
const (
	None Trouble = iota // measured once, published once

	Late          // published after everything else
	Repeated      // published twice
	Early         // published before its campaign is open, then again
	Edited        // a copy whose bytes were changed after they were hashed
	WrongBranch   // a copy from a run on another branch
	WrongRun      // a copy whose result names another run
	Rerun         // a copy from the second attempt of the run
	Foreign       // a cell of another campaign under this one's subject
	Misaddressed  // published to a campaign that nobody opened, then to the right one
	Unselected    // an execution that the campaign did not select
	WrongHost     // a copy from a machine in another region
	NotJSON       // a copy with a document that has more than one meaning
	Malformed     // an arrival that was cut off
	Drifted       // a copy measured by another definition than the frozen one
	Conflicting   // measured again by another run
	Rewritten     // other bytes under the keys of the first
	Failing       // the cell fails
	Unclean       // it passes, its cleanup does not
	Voided        // imported, voided, published again
	Remeasured    // voided, then measured by another run
	Missing       // never measured
	TooLate       // published after the seal
	RepeatedLater // published again after the seal
	VoidedLater   // a void after the seal

	slotTroubles // number of the above
)

// The troubles of a campaign, apart from its slots'.
const (
	OpenedAgain   Trouble = iota + slotTroubles // opened twice with the same content
	OpenedOther                                 // opened again with other content
	VoidedUnknown                               // a void of an import that there is not
	SealedAgain                                 // sealed twice

	ownTroubles // number of the above
)

// The troubles with the checkpoint of a runner's run. The run is one that a
// cell names, where there is one.
const (
	Awaited      Trouble = iota + ownTroubles // read while the answer is awaited, and never again
	Settled                                   // read too early, then when it binds
	Reread                                    // bound, then read again, at last from a copy that lags
	Contradicted                              // the answer went to another agent
	Corrected                                 // contradicted at first, then it binds
	Disputed                                  // bound, then read with other records, twice
	Outgrown                                  // more records than a checkpoint may have
	Unreadable                                // its header is of an unknown schema
	SettledLater                              // read too early, then after the seal

	troublesBehind // number of all
)

// String names the trouble in a word for tables and logs.
func (t Trouble) String() string {
	if t < troublesBehind {
		return recipes[t].name
	}
	return "unknown"
}

// OfSlot reports whether the trouble takes a slot of its campaign.
func (t Trouble) OfSlot() bool { return t < slotTroubles }

// OfCheckpoint reports whether the trouble is with a run's checkpoint.
func (t Trouble) OfCheckpoint() bool { return t >= ownTroubles && t < troublesBehind }

// AllTroubles lists every trouble but None.
func AllTroubles() []Trouble {
	var all []Trouble
	for t := None + 1; t < troublesBehind; t++ {
		all = append(all, t)
	}
	return all
}

// needsSeal reports whether the trouble is about a sealed campaign.
func (t Trouble) needsSeal() bool {
	for _, m := range recipes[t].moves {
		if m.phase == afterSeal {
			return true
		}
	}
	return false
}
