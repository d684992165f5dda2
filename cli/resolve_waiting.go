package cli

// This file resolves waiting, then running (SPEC section 11).

import (
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/probe"
)

// waiting resolves the section on waiting, then running.
func (r *resolver) waiting(o *options) {
	for _, text := range r.g.WaitFor {
		target, err := probe.Parse(text)
		r.fail("wait-for", err)
		o.targets = append(o.targets, target)
	}
	if len(o.targets) > 0 || r.from["wait-timeout"] != fromEnvironment {
		o.waitTimeout = r.duration("wait-timeout", r.g.WaitTimeout)
	}
	o.tries = o.policy.Schedule
	if !r.given("base") && !r.given("delays") {
		factor, _ := strconv.ParseFloat(r.g.Factor, 64) // policy has told what is wrong with it
		o.tries.Base = targetBase
		o.tries.Curve = curve(r.g.Backoff, targetBase, factor)
	}
	if !r.given("cap") {
		o.tries.Cap = targetCap
	}
}

// The base and the cap of the waits between two tries of a target (SPEC section
// 11).
const (
	targetBase = 100 * time.Millisecond
	targetCap  = time.Second
)
