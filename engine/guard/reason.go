package guard

// This file puts refusals into words.

import (
	"fmt"
	"strconv"
	"time"
)

// Reason says which guard of a key refused, with its figures, and when it will
// admit an attempt again.
func (r *Refusal) Reason(g *Guards, key string) string {
	f := r.Figures
	switch r.Guard {
	case KindBreaker:
		return r.breakerReason(key)
	case KindBudget:
		limit := g.Budget.limit(f[1], g.Priority)
		return fmt.Sprintf("the retry budget of %q is spent: %s in the last %v, and the limit for %s is %s%s", key,
			plural(f[0], "retry", "retries"), milliseconds(g.Budget.Window), plural(f[1], "run", "runs"), decimal(limit), r.again())
	case KindTokens:
		kept := ""
		if f[2] > 0 {
			kept = fmt.Sprintf(" and has to leave %s", decimal(f[2]))
		}
		return fmt.Sprintf("the bucket of %q is too empty: it holds %s of %s, and a retry takes %d%s%s", key,
			decimal(f[0]), plural(g.Tokens.Capacity, "token", "tokens"), f[1], kept, r.again())
	case KindSlots:
		holder := ""
		switch {
		case r.Holder != "" && f[0] > 1:
			holder = fmt.Sprintf("; held by %s, and %d more", r.Holder, f[0]-1)
		case r.Holder != "":
			holder = "; held by " + r.Holder
		}
		return fmt.Sprintf("no slot of %q is free: %d held, and --max-concurrent is %d%s", key, f[0], g.Slots.N, holder)
	case KindAdaptive:
		return fmt.Sprintf("%q has had %d successes in the last %s: that is worth %s, not more", key, f[0],
			plural(f[1], "attempt", "attempts"), plural(f[2], "attempt", "attempts"))
	}
	return ""
}

func (r *Refusal) breakerReason(key string) string {
	f := r.Figures
	if r.Circuit == HalfOpen {
		return fmt.Sprintf("the breaker of %q is half-open, and %d of %s under way%s", key, f[0], plural(f[1], "probe is", "probes are"), r.again())
	}
	row := ""
	if f[0] > 1 {
		row = fmt.Sprintf(", and %s failed since", plural(f[0]-1, "probe", "probes"))
	}
	return fmt.Sprintf("the breaker of %q is open: %d of %s failed%s%s", key, f[1], plural(f[2], "attempt", "attempts"), row, r.again())
}

// again says when the guard will admit an attempt, where that is known.
func (r *Refusal) again() string {
	if r.RetryIn < 0 {
		return ""
	}
	return fmt.Sprintf("; the next may pass in %v", milliseconds(r.RetryIn))
}

func plural(n int64, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// decimal writes millionths with the decimals that they have.
func decimal(n int64) string { return strconv.FormatFloat(float64(n)/million, 'f', -1, 64) }
