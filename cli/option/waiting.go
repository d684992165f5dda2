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
		r.o.Targets = append(r.o.Targets, Target{t, false})
	}
	for _, t := range r.WaitGone {
		r.o.Targets = append(r.o.Targets, Target{t, true})
	}
	r.refuse("wait-while", len(r.o.Targets) == 0 && r.typed("wait-while"),
		"is valid with --wait-for or --wait-gone only, whose wait it ends")
	r.refuse("wait-for", len(r.o.Targets)+len(r.WaitWhile) > mostTargets,
		"%d targets are more than %d, the most that one run waits for", len(r.o.Targets), mostTargets)
	r.o.Tries = r.o.Policy.Schedule
	if !r.o.Given("base") && !r.o.Given("delays") {
		r.o.Tries.Base, r.o.Tries.Curve = targetBase, r.curve()
	}
	if !r.o.Given("cap") {
		r.o.Tries.Cap = targetCap
		if len(r.o.Command) == 0 { // then the waits are the user's own
			r.o.Tries.Cap = slices.Max(append([]time.Duration{targetCap, r.o.Tries.Base}, r.Delays...))
		}
	}
}
