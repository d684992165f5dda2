package cli

// This file resolves waiting, then running (SPEC section 11).

import "time"

// target is one that is waited for before attempt 1.
type target struct {
	*waitTarget
	gone bool // until it is no longer ready
}

// waiting resolves the section on waiting, then running, and --retry-when, which
// has the same targets.
func (r *resolver) waiting(o *options) {
	g := r.g
	for _, t := range g.WaitFor {
		o.targets = append(o.targets, target{waitTarget: t.waitTarget})
	}
	for _, t := range g.WaitGone {
		o.targets = append(o.targets, target{waitTarget: t.waitTarget, gone: true})
	}
	o.retryWhen, o.waitTimeout = g.RetryWhen.waitTarget, time.Duration(g.WaitTimeout)
	o.tries = o.policy.Schedule
	if !r.given("base") && !r.given("delays") {
		o.tries.Base = targetBase
		o.tries.Curve = curve(g.Backoff, targetBase, float64(g.Factor))
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
		"metrics-file", "statsd", "otlp", "otlp-timeout", "otlp-args",
	} {
		if r.from(flag) == fromCommandLine {
			words = append(words, r.word(flag))
		}
	}
	return words
}
