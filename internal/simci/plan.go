package simci

import "github.com/ledgerd/ledgerd/domain"

// step is one arrival of the plan.
type step struct {
	campaign int32 // whose plan it is in
	at       place // the cell that it is about, when it is about one
	slot     int32 // likewise; of a checkpoint's run, nobody when no cell names it
	act      act
	tamper   tamper
	trouble  Trouble
	outcome  domain.Outcome
	reason   domain.Reason
	repeats  int32 // index of the step that a duplicate repeats

	reading reading // of a checkpoint, when it is about one
	number  int32   // tells the campaign's checkpoint reads apart
}

// chain is a recipe's steps, which keep their order.
type chain struct {
	phases []phase
	steps  []step
}

// plan makes every campaign's artifacts and steps, and merges the steps of all
// campaigns, each campaign's in its own order.
func (ci *CI) plan() {
	var turns []int32 // a campaign for each step
	steps := make([][]step, len(ci.campaigns))
	for i := range ci.campaigns {
		ci.planJobs(int32(i))
		steps[i] = ci.order(int32(i), ci.chains(int32(i)))
		for range steps[i] {
			turns = append(turns, int32(i))
		}
	}
	shuffle(ci.random(purposeMerge), turns)
	ci.steps = make([]step, 0, len(turns))
	for _, campaign := range turns {
		ci.steps = append(ci.steps, steps[campaign][0])
		steps[campaign] = steps[campaign][1:]
	}
	ci.findRepeats()
}

// planJobs gives every slot that is measured a place in a job's artifact.
func (ci *CI) planJobs(campaign int32) {
	c := &ci.campaigns[campaign]
	c.mainRuns = make([]place, len(c.troubles))
	job := int32(-1)
	for slot := range c.troubles {
		if c.troubles[slot] == Missing {
			continue
		}
		if job < 0 || len(ci.artifacts[job].slots) == ci.config.CellsPerJob {
			job = ci.newArtifact(campaign, mainRun)
		}
		a := &ci.artifacts[job]
		c.mainRuns[slot] = place{artifact: job, cell: int32(len(a.slots))}
		a.slots = append(a.slots, int32(slot))
	}
}

func (ci *CI) newArtifact(campaign int32, of variant, slots ...int32) int32 {
	index := int32(len(ci.artifacts))
	ci.artifacts = append(ci.artifacts, artifact{campaign: campaign, variant: of, runOf: index, slots: slots})
	return index
}

// chains follows the recipe of every slot, and of the campaign itself.
func (ci *CI) chains(campaign int32) []chain {
	chains := []chain{{phases: []phase{opening}, steps: []step{{campaign: campaign, act: publishOpening, outcome: domain.Accepted}}}}
	if !ci.config.Unsealed {
		chains = append(chains, chain{phases: []phase{sealing}, steps: []step{{campaign: campaign, act: publishSeal, outcome: domain.Accepted}}})
	}
	r := ci.random(purposeOrder, uint64(campaign), 0)
	for slot, trouble := range ci.campaigns[campaign].troubles {
		chains = append(chains, ci.chain(r, campaign, int32(slot), trouble, 0))
	}
	runs := ci.newRuns(campaign)
	troubles := ci.config.TroublesOf(int(campaign))
	for trouble := slotTroubles; trouble < troublesBehind; trouble++ {
		if ci.config.Unsealed && trouble.needsSeal() {
			continue
		}
		for range troubles[trouble] {
			slot, number := int32(0), int32(0)
			if trouble.OfCheckpoint() {
				slot, number = runs.next()
			}
			chains = append(chains, ci.chain(r, campaign, slot, trouble, number))
		}
	}
	return chains
}

// chain follows a recipe. number is that of the checkpoint read it is about.
func (ci *CI) chain(r *random, campaign, slot int32, trouble Trouble, number int32) chain {
	var c chain
	places := map[variant]place{}
	for _, m := range recipes[trouble].moves {
		at, ok := places[m.of]
		if !ok && m.of != noMeasurement {
			at = ci.place(campaign, slot, m.of)
			places[m.of] = at
		}
		c.phases = append(c.phases, m.phase)
		c.steps = append(c.steps, step{
			campaign: campaign, at: at, slot: slot, act: m.act, tamper: m.tamper, trouble: trouble, outcome: m.outcome, reason: m.reason,
			reading: m.reading, number: number,
		})
	}
	if recipes[trouble].either {
		shuffle(r, c.steps) // they are in one phase
	}
	return c
}

// place finds, or makes, the artifact with a slot's measurement.
func (ci *CI) place(campaign, slot int32, of variant) place {
	first := ci.campaigns[campaign].mainRuns[slot]
	if of == mainRun {
		return first
	}
	index := ci.newArtifact(campaign, of, slot)
	if of == otherBytes || of == secondAttempt {
		ci.artifacts[index].runOf = first.artifact
	}
	return place{artifact: index}
}

// order shuffles the chains' steps within each phase.
func (ci *CI) order(campaign int32, chains []chain) []step {
	r := ci.random(purposeOrder, uint64(campaign), 1)
	var ordered []step
	next := make([]int, len(chains))
	for p := range phases {
		var turns []int32
		for i := range chains {
			for _, of := range chains[i].phases {
				if of == p {
					turns = append(turns, int32(i))
				}
			}
		}
		shuffle(r, turns)
		for _, i := range turns {
			ordered = append(ordered, chains[i].steps[next[i]])
			next[i]++
		}
	}
	return ordered
}

// findRepeats notes for every duplicate which step it repeats: the last that
// was accepted for the same thing.
func (ci *CI) findRepeats() {
	type thing struct {
		campaign, slot int32
		act            act
		number         int32
	}
	last := map[thing]int32{}
	for i := range ci.steps {
		s := &ci.steps[i]
		about := thing{campaign: s.campaign, slot: s.slot, act: s.act, number: s.number}
		switch s.outcome {
		case domain.Accepted:
			last[about] = int32(i)
		case domain.Duplicate:
			s.repeats = last[about]
		}
	}
}
