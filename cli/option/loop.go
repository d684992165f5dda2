package option

// This file resolves the loop, the wait, the limits, and the processes of attempts
// (docs/processes.md, docs/streams.md).

import (
	"errors"
	"fmt"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
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
	s.Curve, s.Jitter = curve(g.Backoff, s.Base, float64(g.Factor)), g.Jitter
	if len(g.Delays) > 0 {
		s.Curve, s.Base = backoff.List(g.Delays), g.Delays[0] // the base of decorrelated jitter
		if !r.given("jitter") {
			s.Jitter, _ = backoff.ParseJitter("none")
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
		if s := Last(r.settings, other); s != nil && s.Value != "false" {
			r.fail("repeat", fmt.Errorf("cannot be used with %s; give only one of them", s.Word))
		}
	}
	p.Repeat, p.Attempts = true, int(r.g.Repeat)
	s := &p.Schedule
	if !r.given("base") {
		s.Base = 0
	}
	s.Curve, s.MinDelay = backoff.Constant{Base: s.Base}, 0
	s.Jitter, _ = backoff.ParseJitter("none")
}

// curve is a curve of the grammar by its name.
func curve(name string, base time.Duration, factor float64) backoff.Curve {
	switch name {
	case "linear":
		return backoff.Linear{Base: base}
	case "constant":
		return backoff.Constant{Base: base}
	case "fibonacci":
		return backoff.Fibonacci{Base: base}
	}
	return backoff.Exponential{Base: base, Factor: factor}
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

// bounds resolves base, cap and floor of the waits (docs/deciding.md). A cap that
// was not given is never below base, floor and delays; of a given one and what
// contradicts it, the one of the lower source is ignored.
func (r *resolver) bounds(s *backoff.Schedule) {
	g := r.g
	s.Base, s.Cap, s.MinDelay = g.Base, g.Cap, g.MinDelay
	capped := r.given("cap")
	for _, low := range []struct {
		flag  string
		value *time.Duration
	}{{"base", &s.Base}, {"min-delay", &s.MinDelay}} {
		if !capped || !r.given(low.flag) || *low.value <= s.Cap || low.flag == "base" && len(g.Delays) > 0 {
			continue
		}
		switch {
		case r.from("cap") == r.from(low.flag):
			r.fail("cap", fmt.Errorf("%q is less than %s %s; give a longer one, or none", r.text("cap"), r.word(low.flag), message.Limit(*low.value)))
		case r.from("cap") < r.from(low.flag):
			capped = false
		default:
			*low.value = 0
			if low.flag == "base" {
				*low.value = min(defaultBase, s.Cap)
			}
		}
	}
	if !capped {
		s.Cap = max(defaultCap, s.Base, s.MinDelay)
		for _, d := range g.Delays {
			s.Cap = max(s.Cap, d)
		}
	}
}

// The defaults in place of a base or a cap that is ignored.
const (
	defaultBase = time.Second
	defaultCap  = 30 * time.Second
)

// process resolves the sections on processes and streams.
func (r *resolver) process(c *processConfig) {
	g := r.g
	c.KillAfter, c.KillLeftovers, c.Signal = g.KillAfter, g.KillLeftovers, attempt.Signal(g.Signal)
	setStreams(c, g.Stdin, g.Stdout, g.Stderr)
}
