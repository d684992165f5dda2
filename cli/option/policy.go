package option

// This file resolves the policy of attempts: the loop, the wait, the limits, and
// success, retry or stop (docs/deciding.md).

import (
	"fmt"
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/message"
)

// policy resolves the sections on the loop, the wait and the limits.
func (r *resolver) policy() {
	p := &r.o.Policy
	p.ByDefault = !r.o.Given("attempts")
	p.Attempts = int(r.Attempts)
	p.Consecutive = int(r.Consecutive)
	p.UntilFailure = r.UntilFailure
	p.FlakyExit = int(r.FlakyExit)
	r.refuse("until-failure", p.UntilFailure && p.Consecutive > 1,
		"cannot be used with --consecutive; give only one of them")
	r.refuse("consecutive", p.Attempts > 0 && p.Consecutive > p.Attempts,
		"%d successes need as many attempts, and --attempts allows %d; give --attempts %[1]d or more, or 0 for no "+
			"limit", p.Consecutive, p.Attempts)
	s := &p.Schedule
	r.bounds(s)
	s.Curve = r.curve()
	s.Jitter = r.Jitter
	if len(r.Delays) > 0 {
		s.Curve = backoff.List(r.Delays)
		s.Base = r.Delays[0] // the base of decorrelated jitter
		if !r.o.Given("jitter") {
			s.Jitter = backoff.Jitter{Kind: backoff.None}
		}
	}
	r.repeat()
	p.InitialDelay = r.InitialDelay
	p.Splay = r.Splay
	p.ResetAfter = r.ResetAfter
	p.Timeout = r.Timeout
	p.IdleTimeout = r.IdleTimeout
	p.Deadline = r.Deadline
	p.MaxHint = orLongest(r.MaxHint)
}

// repeat resolves --repeat: so many attempts, with base or the first of delays between them
// if one was given.
func (r *resolver) repeat() {
	if !r.o.Given("repeat") {
		return
	}
	for _, other := range []string{"attempts", "consecutive", "until-failure", "exec", "hedge"} {
		s := r.o.last(other)
		r.refuse("repeat", r.o.Given(other) && s.Value != "false",
			"cannot be used with %s; give only one of them", s.Word)
	}
	r.o.Policy.Repeat = true
	r.o.Policy.Attempts = int(r.Repeat)
	s := &r.o.Policy.Schedule
	if !r.o.Given("base") && len(r.Delays) == 0 {
		s.Base = 0
	}
	s.Curve = backoff.Constant
	s.MinDelay = 0
	s.Jitter = backoff.Jitter{Kind: backoff.None}
}

// curve is the curve that --backoff names.
func (r *resolver) curve() backoff.Curve {
	switch r.Backoff {
	case "linear":
		return backoff.Linear
	case "constant":
		return backoff.Constant
	case "fibonacci":
		return backoff.Fibonacci
	}
	return backoff.Exponential(float64(r.Factor))
}

// The defaults in place of a base or a cap that is ignored.
const (
	defaultBase = time.Second
	defaultCap  = 30 * time.Second
)

// orLongest is a limit of which 0 is none.
func orLongest(limit time.Duration) time.Duration {
	if limit == 0 {
		return backoff.Longest
	}
	return limit
}

// bounds resolves base, cap and floor of the waits. A cap that was not given is at least
// base, floor and every delay. If two that were given contradict each other, the one of
// the lower source is ignored.
func (r *resolver) bounds(s *backoff.Schedule) {
	limit := r.o.last("cap")
	r.Cap = orLongest(r.Cap)
	s.Base = r.Base
	s.Cap = r.Cap
	s.MinDelay = r.MinDelay
	for _, low := range []struct {
		flag   string
		value  *time.Duration
		preset time.Duration
	}{{"base", &s.Base, defaultBase}, {"min-delay", &s.MinDelay, 0}} {
		given := r.o.last(low.flag)
		byDefault := limit.Source == FromDefault || given.Source == FromDefault
		unused := low.flag == "base" && len(r.Delays) > 0
		precedence := limit.Compare(&given)
		switch {
		case byDefault || unused || *low.value <= s.Cap:
		case precedence == 0:
			r.fail("cap",
				fmt.Errorf("%q is less than %s %s; give a longer one, or none", limit.Value, given.Word,
					message.Limit(*low.value)))
		case precedence < 0:
			limit = Setting{} // ignored, as if it was not given
		default:
			*low.value = min(low.preset, s.Cap)
		}
	}
	if limit.Source == FromDefault {
		s.Cap = slices.Max(append([]time.Duration{defaultCap, s.Base, s.MinDelay}, r.Delays...))
	}
}

// judging resolves the sections on success, retry or stop.
func (r *resolver) judging(rules *engine.Rules) {
	rules.SuccessOnExit = slices.Concat(r.SuccessOnExit...)
	rules.StopOnExit = slices.Concat(r.StopOnExit...)
	rules.OnExit = slices.Concat(r.OnExit...)
	rules.Stdout = engine.Patterns{Until: r.UntilStdout, FailOn: r.FailOnStdout, StopOn: r.StopOnStdout, On: r.OnStdout}
	rules.Stderr = engine.Patterns{Until: r.UntilStderr, FailOn: r.FailOnStderr, StopOn: r.StopOnStderr, On: r.OnStderr}
	switch r.Classify {
	case "smart":
		rules.Mode = engine.Smart
	case "strict":
		rules.Mode = engine.Strict
	}
	if len(r.Rules) > 0 && !r.o.Given("classify") {
		rules.Mode = engine.Smart // rules have no other use
	}
	if after := r.RetryAfter; !after.off {
		rules.Hints = engine.Hints{Use: true, Pattern: after.re}
		// What passes through the program anyway, as all of a copy does, is read.
		both := r.o.Given("retry-after") || r.o.Given("hedge")
		rules.ReadStdout, rules.ReadStderr = both || r.Stdout != "stream", both || r.Stderr != "stream"
	}
}
