package guard

// This file puts refusals into words.

import (
	"cmp"
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
		return r.ofBreaker(key, g.Breaker.Probes)
	case KindBudget:
		return fmt.Sprintf("the retry budget of %q is spent: %s in the last %v, and the limit for %s is %s%s", key,
			text.Count(r.Retries, "retry", "retries"), milliseconds(g.Budget.Window), text.Count(r.Runs, "run", "runs"),
			decimal(g.Budget.limit(r.Runs, g.Priority)), r.again())
	case KindTokens:
		kept := ""
		if r.Kept > 0 {
			kept = " and has to leave " + decimal(r.Kept)
		}
		return fmt.Sprintf("the bucket of %q is too empty: it holds %s of %s, and a retry takes %d%s%s", key,
			decimal(r.Left), text.Count(g.Tokens.Capacity, "token", "tokens"), r.Cost, kept, r.again())
	case KindSlots:
		holder := ""
		if r.Holder != "" {
			holder = "; held by " + r.Holder
		}
		if r.Holder != "" && r.Held > 1 {
			holder += fmt.Sprintf(", and %d more", r.Held-1)
		}
		return fmt.Sprintf("no slot of %q is free: %d held, and --max-concurrent is %d%s", key, r.Held, g.Slots.N,
			holder)
	case KindRateLimit:
		wait := ""
		if g.RateLimit.Wait >= 0 {
			wait = fmt.Sprintf(", and wait= is %v", milliseconds(g.RateLimit.Wait))
		}
		return g.RateLimit.Reason(key) + fmt.Sprintf("; its next turn is in %v%s", milliseconds(r.RetryIn), wait)
	case KindAdaptive:
		return fmt.Sprintf("%q has had %d successes in the last %s: that is worth %s, not more", key, r.Successes,
			text.Count(r.Outcomes, "attempt", "attempts"), text.Count(r.Attempts, "attempt", "attempts"))
	}
	return ""
}

func (r *Refusal) ofBreaker(key string, probes int64) string {
	if r.Circuit == HalfOpen {
		return fmt.Sprintf("the breaker of %q is half-open, and %d of %s under way%s", key,
			r.Probes, text.Count(probes, "probe is", "probes are"), r.again())
	}
	row := ""
	if r.Openings > 1 {
		row = fmt.Sprintf(", and %s failed since", text.Count(r.Openings-1, "probe", "probes"))
	}
	return fmt.Sprintf("the breaker of %q is open: %d of %s failed%s%s", key, r.Failures,
		text.Count(r.Outcomes, "attempt", "attempts"), row, r.again())
}

// Reason says why an attempt has to wait for its turn.
func (r *RateLimit) Reason(key string) string {
	rate := cmp.Or(r.Rate, "1/"+(time.Duration(r.Interval)*time.Microsecond).String())
	return fmt.Sprintf("attempts of %q start at %s", key, rate)
}

// again says when the guard will admit an attempt, if that is known.
func (r *Refusal) again() string {
	if r.RetryIn < 0 {
		return ""
	}
	return fmt.Sprintf("; the next may pass in %v", milliseconds(r.RetryIn))
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// decimal writes millionths with the decimals that they have.
func decimal(n int64) string { return strconv.FormatFloat(float64(n)/million, 'f', -1, 64) }
