package cli

// This file resolves waiting, then running (SPEC section 11).

import (
	"strconv"
	"time"
)

// target is one that is waited for before attempt 1.
type target struct {
	*waitTarget
	gone bool // until it is no longer ready
}

// waiting resolves the section on waiting, then running, and --retry-when, which
// has the same targets.
func (r *resolver) waiting(o *options) {
	for _, text := range r.g.WaitFor {
		o.targets = append(o.targets, target{waitTarget: r.target("wait-for", text)})
	}
	for _, text := range r.g.WaitGone {
		o.targets = append(o.targets, target{waitTarget: r.target("wait-gone", text), gone: true})
	}
	if r.given("retry-when") {
		o.retryWhen = r.target("retry-when", r.g.RetryWhen)
	}
	if len(o.targets) > 0 || o.retryWhen != nil || r.from["wait-timeout"] != fromEnvironment {
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

func (r *resolver) target(flag, text string) *waitTarget {
	target, err := parseTarget(text)
	r.fail(flag, err)
	return target
}

// The base and the cap of the waits between two tries of a target (SPEC section
// 11).
const (
	targetBase = 100 * time.Millisecond
	targetCap  = time.Second
)

// meaningless returns the words of the command line that say something of attempts,
// of which --exec makes none. A variable or a policy may speak to others, too.
func (r *resolver) meaningless() (words []string) {
	if !r.g.Exec {
		return nil
	}
	for _, flag := range []string{
		"attempts", "consecutive", "until-failure", "flaky-exit", "reset-after", "timeout", "idle-timeout", "kill-leftovers",
		"stdin", "stdout", "stderr", "success-on-exit", "on-exit", "stop-on-exit", "until-stdout", "until-stderr", "fail-on-stdout", "fail-on-stderr",
		"on-stdout", "on-stderr", "stop-on-stdout", "stop-on-stderr", "classify", "rules", "retry-after", "max-hint", "idempotency-key",
		"before-retry", "after-success", "retry-with", "retry-when", "breaker", "budget", "tokens", "max-concurrent", "adaptive",
	} {
		if r.given(flag) && r.from[flag] == fromCommandLine {
			words = append(words, r.words[flag])
		}
	}
	return words
}
