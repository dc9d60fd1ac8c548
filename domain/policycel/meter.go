package policycel

import (
	"sync"

	"cel.dev/cel-go/common/cost"
)

// meter counts what a cell's expressions cost. Going over [MaxCost] ends the
// evaluation by a panic that the library's evaluation turns into an error.
type meter struct{ tracker *cost.Tracker }

// costModel is the revision of the library's prices for what this package does
// not price itself.
const costModel = 1

// unused is a tracker that nobody charges, to be cloned.
var unused = sync.OnceValue(func() *cost.Tracker {
	tracker, err := cost.NewTracker(nil, cost.TrackerLimit(MaxCost), cost.ModelVersion(costModel))
	if err != nil {
		panic("policycel: no cost tracker: " + err.Error()) // the options are constants
	}
	return tracker
})

func newMeter() *meter {
	tracker, err := unused().Clone()
	if err != nil {
		panic("policycel: no cost tracker: " + err.Error()) // as above
	}
	return &meter{tracker: tracker}
}

// charge adds a price that is known before the work is done, so that the work
// is not done when it is too dear. It takes time as the price does, which the
// limit bounds: the library has no way to add more than 1.
func (m *meter) charge(price int) {
	for range price {
		m.tracker.Qualify(0)
	}
}

func (m *meter) spent() uint64 { return m.tracker.ActualCost() }
