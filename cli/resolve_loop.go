package cli

// This file resolves the loop, the wait and the limits (SPEC sections 2 to 4).

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/tell"
)

// policy resolves the sections on the loop, the wait and the limits.
func (r *resolver) policy(p *engine.Policy) {
	g := r.g
	p.Attempts = r.count("attempts", g.Attempts)
	r.successes(p)
	s := &p.Schedule
	var delays backoff.List
	if r.given("delays") {
		delays = r.delays(g.Delays)
	}
	r.bounds(s, delays)
	factor, err := strconv.ParseFloat(g.Factor, 64)
	if err != nil || !(factor >= 1) || math.IsInf(factor, 0) {
		r.fail("factor", fmt.Errorf("%q is not a number of at least 1, such as 2 or 1.5", g.Factor))
	}
	s.Curve = curve(r.oneOf("backoff", g.Backoff), s.Base, factor)
	jitter := g.Jitter
	if len(delays) > 0 {
		s.Curve, s.Base = delays, delays[0] // the base of decorrelated jitter
		if !r.given("jitter") {
			jitter = "none"
		}
	}
	s.Jitter, err = backoff.ParseJitter(jitter)
	r.fail("jitter", err)
	p.InitialDelay, p.Splay = r.duration("initial-delay", g.InitialDelay), r.duration("splay", g.Splay)
	p.ResetAfter = r.duration("reset-after", g.ResetAfter)
	p.Timeout, p.Deadline = r.duration("timeout", g.Timeout), r.duration("deadline", g.Deadline)
	p.IdleTimeout = r.duration("idle-timeout", g.IdleTimeout)
	p.MaxHint = r.duration("max-hint", g.MaxHint)
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

// successes resolves what is asked for beside one success.
func (r *resolver) successes(p *engine.Policy) {
	g := r.g
	n, err := strconv.ParseUint(g.Consecutive, 10, 31)
	if err != nil || n < 1 {
		r.fail("consecutive", fmt.Errorf("%q is not a whole number from 1 to %d", g.Consecutive, math.MaxInt32))
	}
	p.Consecutive, p.UntilFailure = int(n), g.UntilFailure
	switch {
	case p.UntilFailure && n > 1:
		r.fail("until-failure", errors.New("goes without --consecutive; give one of them"))
	case p.Attempts > 0 && int(n) > p.Attempts:
		r.fail("consecutive", fmt.Errorf("%d successes need as many attempts, and --attempts allows %d; give --attempts %d or more, or 0 for no limit", n, p.Attempts, n))
	}
	code, err := strconv.ParseUint(g.FlakyExit, 10, 8)
	if err != nil {
		r.fail("flaky-exit", fmt.Errorf("%q is not an exit code from 0 to 255", g.FlakyExit))
	}
	p.FlakyExit = int(code)
}

// bounds resolves base, cap and floor of the waits (SPEC section 3). A cap that
// was not given is never below what was asked for; of a given one and what
// contradicts it, the one of the lower source gives way.
func (r *resolver) bounds(s *backoff.Schedule, delays backoff.List) {
	g := r.g
	s.Base, s.Cap, s.MinDelay = r.duration("base", g.Base), r.duration("cap", g.Cap), r.duration("min-delay", g.MinDelay)
	capped := r.given("cap")
	for _, low := range []struct {
		flag  string
		value *time.Duration
	}{{"base", &s.Base}, {"min-delay", &s.MinDelay}} {
		if !capped || !r.given(low.flag) || *low.value <= s.Cap || low.flag == "base" && len(delays) > 0 {
			continue
		}
		switch {
		case r.from["cap"] == r.from[low.flag]:
			r.fail("cap", fmt.Errorf("%q is less than %s %s; give a longer one, or none", g.Cap, r.words[low.flag], tell.Limit(*low.value)))
		case r.from["cap"] < r.from[low.flag]:
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
		for _, d := range delays {
			s.Cap = max(s.Cap, d)
		}
	}
}

// The defaults that stand in for a base or a cap that gives way.
const (
	defaultBase = time.Second
	defaultCap  = 30 * time.Second
)

func (r *resolver) delays(list string) backoff.List {
	var delays backoff.List
	for item := range strings.SplitSeq(list, ",") {
		d, err := backoff.ParseDuration(strings.TrimSpace(item))
		if err != nil {
			r.fail("delays", fmt.Errorf("%w; separate several by commas, as in 1s,5s,30s", err))
		}
		delays = append(delays, d)
	}
	return delays
}

// count reads a number of attempts; 2^31 - 1 is the greatest that an int holds
// on every system.
func (r *resolver) count(flag, value string) int {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		r.fail(flag, fmt.Errorf("%q is not a whole number from 0 to %d; 0 is unlimited", value, math.MaxInt32))
	}
	return int(n)
}
