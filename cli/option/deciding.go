package option

// This file resolves success, retry or stop, and what is known of failures
// (SPEC sections 5 and 9).

import (
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/linematch"
)

// judging resolves the sections on success, retry or stop.
func (r *resolver) judging(rules *engine.Rules) {
	g := r.g
	rules.SuccessOnExit, rules.StopOnExit, rules.OnExit = joined(g.SuccessOnExit), joined(g.StopOnExit), joined(g.OnExit)
	rules.Stdout = engine.Patterns{
		Until: patterns(g.UntilStdout), FailOn: patterns(g.FailOnStdout), StopOn: patterns(g.StopOnStdout), On: patterns(g.OnStdout),
	}
	rules.Stderr = engine.Patterns{
		Until: patterns(g.UntilStderr), FailOn: patterns(g.FailOnStderr), StopOn: patterns(g.StopOnStderr), On: patterns(g.OnStderr),
	}
	rules.Mode = map[string]engine.Mode{"any": engine.Any, "smart": engine.Smart, "strict": engine.Strict}[g.Classify]
	if len(g.Rules) > 0 && !r.given("classify") {
		rules.Mode = engine.Smart // rules have no other use
	}
	if after := g.RetryAfter; !after.off {
		rules.Hints = engine.Hints{Use: true, Capture: r.given("retry-after"), Pattern: after.re}
	}
	rules.Hints.HeldStdout, rules.Hints.HeldStderr = g.Stdout == "hold", g.Stderr == "hold"
}

// joined is one list of those that were given.
func joined(lists []exits) (all classify.Exits) {
	for _, list := range lists {
		all = append(all, list.Exits...)
	}
	return all
}

func patterns(given []pattern) (all []*linematch.Pattern) {
	for _, p := range given {
		all = append(all, p.Pattern)
	}
	return all
}
