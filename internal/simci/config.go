package simci

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain"
)

// Errors.
var (
	// ErrConfig: no CI can be simulated like that.
	ErrConfig = errors.New("simci: the configuration cannot be used")
	// ErrArtifacts: the written artifacts are not those of this CI.
	ErrArtifacts = errors.New("simci: the artifacts do not fit")
)

// Config says what is simulated. The zero value is one small campaign in which
// nothing goes wrong.
type Config struct {
	Seed      uint64         // the same number, the same bytes
	Prefix    string         // campaign ids begin with it; "" is chat-review
	Campaigns int            // 0 is 1
	Scenarios int            // of each campaign; 0 is 12, the ledger takes up to 1,000
	Policy    *domain.Policy // nil: campaigns are opened with the preset paperclip-chat

	Troubles   Troubles                    // of each campaign
	TroublesOf func(campaign int) Troubles // when set, instead of Troubles

	CellsPerJob int  // executions in one artifact; 0 is 2
	CellBytes   int  // how large a cell's arrival is, about; 0 is as small as one is (3 KB)
	Stored      bool // artifacts are not compressed, which is quicker to make
	Unsealed    bool // campaigns stay open
}

// Troubles counts how often each trouble happens in a campaign.
type Troubles map[Trouble]int

// Limits of a configuration.
const (
	// MaxCampaigns bounds what is held in memory.
	MaxCampaigns = 10_000
	// MaxCellBytes keeps a cell within an arrival.
	MaxCellBytes = 4 << 20
	// maxOpeningBytes is what the ledger takes for a campaign, printed.
	maxOpeningBytes = 1<<20 - 16<<10
)

// EachTrouble is one of every trouble.
func EachTrouble() Troubles {
	troubles := Troubles{}
	for _, trouble := range AllTroubles() {
		troubles[trouble] = 1
	}
	return troubles
}

// Share is about permille thousandths of cells in trouble, all troubles alike.
func Share(cells, permille int) Troubles {
	troubles := Troubles{}
	kinds := AllTroubles()
	for i := range cells * permille / 1000 {
		troubles[kinds[i%len(kinds)]]++
	}
	return troubles
}

// Demo is what the demo shows: a campaign with every trouble, one that is
// qualified although much goes wrong around it, and one that stays incomplete.
func Demo(seed uint64) Config {
	troubles := []Troubles{
		EachTrouble(),
		{Late: 3, Repeated: 3, Early: 1, Edited: 1, Rerun: 2, NotJSON: 1, Remeasured: 1, OpenedAgain: 1, RepeatedLater: 1, SealedAgain: 1,
			Settled: 1, Reread: 1},
		{Late: 2, Repeated: 1, Missing: 2, Voided: 1, TooLate: 1, WrongBranch: 1, Malformed: 1, Awaited: 1, Contradicted: 1},
	}
	return Config{
		Seed:       seed,
		Campaigns:  len(troubles),
		Scenarios:  len(scenarioNames),
		TroublesOf: func(campaign int) Troubles { return troubles[campaign] },
	}
}

func (c Config) withDefaults() (Config, *domain.Policy, error) {
	if c.Prefix == "" {
		c.Prefix = "chat-review"
	}
	if c.Campaigns == 0 {
		c.Campaigns = 1
	}
	if c.Scenarios == 0 {
		c.Scenarios = len(scenarioNames)
	}
	if c.CellsPerJob == 0 {
		c.CellsPerJob = 2
	}
	if c.TroublesOf == nil {
		c.TroublesOf = func(int) Troubles { return c.Troubles }
	}
	policy := Preset()
	if c.Policy != nil {
		policy = c.Policy
	}
	policy, refusal := policy.Check()
	if refusal != nil {
		return c, nil, wrong("the policy: %s: %s", refusal.Field, refusal.Message)
	}
	return c, policy, c.check(policy)
}

func (c *Config) check(policy *domain.Policy) error {
	switch names := policy.Documents; {
	case c.Campaigns < 0 || c.Campaigns > MaxCampaigns:
		return wrong("%d campaigns; it may have up to %d", c.Campaigns, MaxCampaigns)
	case c.Scenarios < 0 || c.Scenarios > domain.MaxScenarios:
		return wrong("%d scenarios; a campaign may have up to %d", c.Scenarios, domain.MaxScenarios)
	case c.CellsPerJob < 0:
		return wrong("%d cells in a job", c.CellsPerJob)
	case c.CellBytes < 0 || c.CellBytes > MaxCellBytes:
		return wrong("cells of %d bytes; they may have up to %d", c.CellBytes, MaxCellBytes)
	case strings.ContainsAny(names.Result+names.Host+names.Definition, `*?[\`):
		return wrong("documents are written under plain names, and the policy has patterns: %+v", names)
	case names.Result == names.Host || names.Host == names.Definition || names.Definition == names.Result:
		return wrong("two documents have one name: %+v", names)
	}
	for i := range c.Campaigns {
		if err := c.checkTroubles(i, c.Scenarios*len(policy.Ordinals)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkTroubles(campaign, slots int) error {
	taken := 0
	for trouble, n := range c.TroublesOf(campaign) {
		switch {
		case trouble == None || trouble >= troublesBehind || n < 0:
			return wrong("campaign %d has trouble %d (%s) %d times", campaign, trouble, trouble, n)
		case trouble.OfSlot():
			taken += n
		}
	}
	if taken > slots {
		return wrong("campaign %d has %d troubles and %d cells; each cell has one at most", campaign, taken, slots)
	}
	return nil
}

func wrong(format string, args ...any) error {
	return errors.WithHint(errors.Wrap(ErrConfig, fmt.Sprintf(format, args...)), "change the numbers of the simulation")
}
