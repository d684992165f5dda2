package guard

// This file puts refusals into words.

import (
	"fmt"
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// Reason says which guard of a key refused, with its figures, and when it will
// admit an attempt again.
func (r *Refusal) Reason(g *Guards, key string) string {
	switch r.Guard {
	case KindBreaker:
		if r.Circuit == HalfOpen {
			return fmt.Sprintf("the breaker of %q is half-open, and %d of %s under way%s", key, r.Count, text.Count(r.Of, "probe is", "probes are"), r.again())
		}
		row := ""
		if r.Also > 1 {
			row = fmt.Sprintf(", and %s failed since", text.Count(r.Also-1, "probe", "probes"))
		}
		return fmt.Sprintf("the breaker of %q is open: %d of %s failed%s%s", key, r.Count, text.Count(r.Of, "attempt", "attempts"), row, r.again())
	case KindBudget:
		return fmt.Sprintf("the retry budget of %q is spent: %s in the last %v, and the limit for %s is %s%s", key,
			text.Count(r.Count, "retry", "retries"), milliseconds(g.Budget.Window), text.Count(r.Of, "run", "runs"),
			decimal(g.Budget.limit(r.Of, g.Priority)), r.again())
	case KindTokens:
		kept := ""
		if r.Also > 0 {
			kept = " and has to leave " + decimal(r.Also)
		}
		return fmt.Sprintf("the bucket of %q is too empty: it holds %s of %s, and a retry takes %d%s%s", key,
			decimal(r.Count), text.Count(g.Tokens.Capacity, "token", "tokens"), r.Of, kept, r.again())
	case KindSlots:
		holder := ""
		if r.Holder != "" {
			holder = "; held by " + r.Holder
			if r.Count > 1 {
				holder += fmt.Sprintf(", and %d more", r.Count-1)
			}
		}
		return fmt.Sprintf("no slot of %q is free: %d held, and --max-concurrent is %d%s", key, r.Count, g.Slots.N, holder)
	case KindAdaptive:
		return fmt.Sprintf("%q has had %d successes in the last %s: that is worth %s, not more", key, r.Count,
			text.Count(r.Of, "attempt", "attempts"), text.Count(r.Also, "attempt", "attempts"))
	}
	return ""
}

// again says when the guard will admit an attempt, where that is known.
func (r *Refusal) again() string {
	if r.RetryIn < 0 {
		return ""
	}
	return fmt.Sprintf("; the next may pass in %v", milliseconds(r.RetryIn))
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// decimal writes millionths with the decimals that they have.
func decimal(n int64) string { return strconv.FormatFloat(float64(n)/million, 'f', -1, 64) }
