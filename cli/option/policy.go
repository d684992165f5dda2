package option

// This file resolves the policy of attempts: the loop, the wait, the limits, and
// success, retry or stop (docs/deciding.md).

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/message"
)

// policy resolves the sections on the loop, the wait and the limits.
func (r *resolver) policy(p *engine.Policy) {
	g := r.g
	p.Attempts = int(g.Attempts)
	r.successes(p)
	s := &p.Schedule
	r.bounds(s)
	s.Curve, s.Jitter = r.curve(), g.Jitter
	if len(g.Delays) > 0 {
		s.Curve, s.Base = backoff.List(g.Delays), g.Delays[0] // the base of decorrelated jitter
		if !r.given("jitter") {
			s.Jitter = backoff.Jitter{Kind: backoff.None}
		}
	}
	r.repeat(p)
	p.InitialDelay, p.Splay, p.ResetAfter = g.InitialDelay, g.Splay, g.ResetAfter
	p.Timeout, p.IdleTimeout, p.Deadline = g.Timeout, g.IdleTimeout, g.Deadline
	p.MaxHint = g.MaxHint
}

// repeat resolves --repeat: so many attempts, with base between them where it was
// given.
func (r *resolver) repeat(p *engine.Policy) {
	if !r.given("repeat") {
		return
	}
	for _, other := range []string{"attempts", "consecutive", "until-failure", "exec", "hedge"} {
		if s := r.last(other); s.Source > 0 && s.Value != "false" {
			r.fail("repeat", fmt.Errorf("cannot be used with %s; give only one of them", s.Word))
		}
	}
	p.Repeat, p.Attempts = true, int(r.g.Repeat)
	s := &p.Schedule
	if !r.given("base") {
		s.Base = 0
	}
	s.Curve, s.MinDelay, s.Jitter = backoff.Constant, 0, backoff.Jitter{Kind: backoff.None}
}

// curve is the curve that --backoff names.
func (r *resolver) curve() backoff.Curve {
	return map[string]backoff.Curve{
		"linear": backoff.Linear, "constant": backoff.Constant, "fibonacci": backoff.Fibonacci, "exponential": backoff.Exponential(float64(r.g.Factor)),
	}[r.g.Backoff]
}

// successes resolves how many successes, or which failure, end a run.
func (r *resolver) successes(p *engine.Policy) {
	n := int(r.g.Consecutive)
	p.Consecutive, p.UntilFailure, p.FlakyExit = n, r.g.UntilFailure, int(r.g.FlakyExit)
	switch {
	case p.UntilFailure && n > 1:
		r.fail("until-failure", errors.New("cannot be used with --consecutive; give only one of them"))
	case p.Attempts > 0 && n > p.Attempts:
		r.fail("consecutive", fmt.Errorf("%d successes need as many attempts, and --attempts allows %d; give --attempts %d or more, or 0 for no limit", n, p.Attempts, n))
	}
}

// The defaults in place of a base or a cap that is ignored.
const (
	defaultBase = time.Second
	defaultCap  = 30 * time.Second
)

// bounds resolves base, cap and floor of the waits. A cap that was not given is never
// below base, floor and delays; of a given one and what contradicts it, the one of the
// lower source is ignored.
func (r *resolver) bounds(s *backoff.Schedule) {
	g, limit := r.g, r.last("cap")
	s.Base, s.Cap, s.MinDelay = g.Base, g.Cap, g.MinDelay
	for _, low := range []struct {
		flag   string
		value  *time.Duration
		preset time.Duration
	}{{"base", &s.Base, defaultBase}, {"min-delay", &s.MinDelay, 0}} {
		given := r.last(low.flag)
		switch {
		case limit.Source == 0 || given.Source == 0 || *low.value <= s.Cap || low.flag == "base" && len(g.Delays) > 0:
		case limit.Source == given.Source:
			r.fail("cap", fmt.Errorf("%q is less than %s %s; give a longer one, or none", limit.Value, given.Word, message.Limit(*low.value)))
		case limit.Source < given.Source:
			limit.Source = 0
		default:
			*low.value = min(low.preset, s.Cap)
		}
	}
	if limit.Source == 0 {
		s.Cap = slices.Max(append([]time.Duration{defaultCap, s.Base, s.MinDelay}, g.Delays...))
	}
}

// judging resolves the sections on success, retry or stop.
func (r *resolver) judging(rules *engine.Rules) {
	g := r.g
	rules.SuccessOnExit, rules.StopOnExit, rules.OnExit = slices.Concat(g.SuccessOnExit...), slices.Concat(g.StopOnExit...), slices.Concat(g.OnExit...)
	rules.Stdout = engine.Patterns{Until: g.UntilStdout, FailOn: g.FailOnStdout, StopOn: g.StopOnStdout, On: g.OnStdout}
	rules.Stderr = engine.Patterns{Until: g.UntilStderr, FailOn: g.FailOnStderr, StopOn: g.StopOnStderr, On: g.OnStderr}
	rules.Mode = map[string]engine.Mode{"any": engine.Any, "smart": engine.Smart, "strict": engine.Strict}[g.Classify]
	if len(g.Rules) > 0 && !r.given("classify") {
		rules.Mode = engine.Smart // rules have no other use
	}
	if after := g.RetryAfter; !after.off {
		rules.Hints = engine.Hints{Use: true, Capture: r.given("retry-after"), Pattern: after.re}
	}
	rules.Hints.HeldStdout, rules.Hints.HeldStderr = g.Stdout == "hold", g.Stderr == "hold"
}
