package option

// This file resolves waiting, then running (SPEC section 11).

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
		o.Targets = append(o.Targets, Target{WaitTarget: t.WaitTarget})
	}
	for _, t := range g.WaitGone {
		o.Targets = append(o.Targets, Target{WaitTarget: t.WaitTarget, Gone: true})
	}
	o.RetryWhen, o.WaitTimeout = g.RetryWhen.WaitTarget, time.Duration(g.WaitTimeout)
	o.Tries = o.Policy.Schedule
	if !r.given("base") && !r.given("delays") {
		o.Tries.Base = targetBase
		o.Tries.Curve = curve(g.Backoff, targetBase, float64(g.Factor))
	}
	if !r.given("cap") {
		o.Tries.Cap = targetCap
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
		"before-retry", "after-success", "retry-with", "retry-when", "breaker", "budget", "tokens", "max-concurrent", "adaptive", "dead-letter", "park",
		"metrics-file", "statsd", "otlp", "otlp-timeout", "otlp-args",
	} {
		if r.from(flag) == FromCommandLine {
			words = append(words, r.word(flag))
		}
	}
	return words
}
