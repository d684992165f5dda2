package cli

// This file resolves the loop, the wait and the limits (SPEC sections 2 to 4).

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
)

// policy resolves the sections on the loop, the wait and the limits.
func (r *resolver) policy(p *engine.Policy) {
	g := r.g
	p.Attempts = r.count("attempts", g.Attempts)
	s := &p.Schedule
	s.Base, s.Cap = r.duration("base", g.Base), r.duration("cap", g.Cap)
	s.MinDelay = r.duration("min-delay", g.MinDelay)
	factor, err := strconv.ParseFloat(g.Factor, 64)
	if err != nil || !(factor >= 1) || math.IsInf(factor, 0) {
		r.fail("factor", fmt.Errorf("%q is no number of at least 1, such as 2 or 1.5", g.Factor))
	}
	switch r.oneOf("backoff", g.Backoff) {
	case "exponential":
		s.Curve = backoff.Exponential{Base: s.Base, Factor: factor}
	case "linear":
		s.Curve = backoff.Linear{Base: s.Base}
	case "constant":
		s.Curve = backoff.Constant{Base: s.Base}
	case "fibonacci":
		s.Curve = backoff.Fibonacci{Base: s.Base}
	}
	jitter := g.Jitter
	if r.given("delays") {
		delays := r.delays(g.Delays)
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
	p.MaxHint = r.duration("max-hint", g.MaxHint)
}

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
		r.fail(flag, fmt.Errorf("%q is no whole number from 0 to %d; 0 is unlimited", value, math.MaxInt32))
	}
	return int(n)
}
