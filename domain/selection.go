package domain

import "strconv"

// Selection is a slot of a campaign: the one execution that may fill it, fixed
// when the campaign is opened.
type Selection struct {
	ScenarioID    string `json:"scenarioId"`
	ExecutionID   string `json:"executionId"`
	RemoteOrdinal int64  `json:"remoteOrdinal"`
}

// Slot is the selection's place in the grid.
func (s Selection) Slot() Slot { return Slot{ScenarioID: s.ScenarioID, Ordinal: s.RemoteOrdinal} }

// Slot names a cell of the campaign's grid.
type Slot struct {
	ScenarioID string
	Ordinal    int64
}

// String is the slot as people and reasons name it: scenario/ordinal.
func (s Slot) String() string { return s.ScenarioID + "/" + strconv.FormatInt(s.Ordinal, 10) }

// Intent is what a campaign was opened to measure. In the ledger it is always
// the opened campaign's own; a stand-alone validation brings its own.
type Intent struct {
	CampaignID     string
	SourceRevision string
	Selected       []Selection

	byExecution map[string]selected
}

type selected struct {
	Selection
	count int // how many selections name the execution; only 1 is unambiguous
}

// NewIntent indexes the selections by execution, so that looking one up does
// not grow with the campaign.
func NewIntent(campaignID, sourceRevision string, selections []Selection) *Intent {
	byExecution := make(map[string]selected, len(selections))
	for _, selection := range selections {
		entry, ok := byExecution[selection.ExecutionID]
		if !ok {
			entry.Selection = selection
		}
		entry.count++
		byExecution[selection.ExecutionID] = entry
	}
	return &Intent{CampaignID: campaignID, SourceRevision: sourceRevision, Selected: selections, byExecution: byExecution}
}

// Selection gives the one selection of an execution, and how many there are: 0
// and more than 1 are both refused.
func (i *Intent) Selection(executionID string) (Selection, int) {
	entry := i.byExecution[executionID]
	return entry.Selection, entry.count
}

// maxCampaignIDBytes is the longest campaign id.
const maxCampaignIDBytes = 100

// LegalCampaignID reports whether id is ^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$, so
// that it is a subject's token.
func LegalCampaignID(id string) bool {
	if id == "" || len(id) > maxCampaignIDBytes {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '_' && c != '-') {
			return false
		}
	}
	return true
}
