package cli

// This file resolves waiting, then running (SPEC section 11).

import (
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
	o.waitCap = time.Second
	if r.given("cap") {
		o.waitCap = o.policy.Schedule.Cap
	}
}
