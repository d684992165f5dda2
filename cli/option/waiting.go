package option

// This file resolves waiting, then running (docs/targets.md).

import "time"

// Target is one that is waited for before attempt 1.
type Target struct {
	*WaitTarget
	Gone bool // until it is no longer ready
}

// waiting resolves the section on waiting, then running, and --retry-when, which
// has the same targets.
func (r *resolver) waiting(o *Options) {
	g := r.g
	for _, t := range g.WaitFor {
		o.Targets = append(o.Targets, Target{WaitTarget: t})
	}
	for _, t := range g.WaitGone {
		o.Targets = append(o.Targets, Target{WaitTarget: t, Gone: true})
	}
	o.RetryWhen, o.WaitTimeout = g.RetryWhen, g.WaitTimeout
	o.Tries = o.Policy.Schedule
	if !r.given("base") && !r.given("delays") {
		o.Tries.Base = targetBase
		o.Tries.Curve = curve(g.Backoff, targetBase, float64(g.Factor))
	}
	if !r.given("cap") {
		o.Tries.Cap = targetCap
	}
}

// The base and the cap of the waits between two tries of a target (docs/targets.md).
const (
	targetBase = 100 * time.Millisecond
	targetCap  = time.Second
)
