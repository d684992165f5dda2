package option

// This file resolves the targets that a run waits for (docs/targets.md).

import (
	"slices"
	"time"
)

// Target is one that is waited for before attempt 1.
type Target struct {
	*WaitTarget
	Gone bool // until it is no longer ready
}

// The base and the cap of the waits between two tries of a target.
const (
	targetBase = 100 * time.Millisecond
	targetCap  = time.Second
)

// waiting resolves the section on waiting.
func (r *resolver) waiting() {
	for _, t := range r.WaitFor {
		r.Targets = append(r.Targets, Target{t, false})
	}
	for _, t := range r.WaitGone {
		r.Targets = append(r.Targets, Target{t, true})
	}
	r.refuse("wait-while", len(r.Targets) == 0 && r.typed("wait-while"),
		"is valid with --wait-for or --wait-gone only, whose wait it ends")
	r.refuse("wait-for", len(r.Targets)+len(r.WaitWhile) > mostTargets,
		"%d targets are more than %d, the most that one run waits for", len(r.Targets), mostTargets)
	r.Tries = r.Policy.Schedule
	if !r.Given("base") && !r.Given("delays") {
		r.Tries.Base, r.Tries.Curve = targetBase, r.curve()
	}
	if !r.Given("cap") {
		r.Tries.Cap = targetCap
		if len(r.Command) == 0 { // then the waits are the user's own
			r.Tries.Cap = slices.Max(append([]time.Duration{targetCap, r.Tries.Base}, r.Delays...))
		}
	}
}
