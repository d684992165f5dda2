package guard

// This file puts refusals into words.

import (
	"fmt"
	"strconv"
	"time"
)

// Reason says why a guard refused, with its figures.
func (r *Refusal) Reason(g *Guards) string {
	f := r.Figures
	switch r.Guard {
	case KindBreaker:
		return r.breakerReason()
	case KindBudget:
		limit := g.Budget.limit(f[1], g.Priority)
		return fmt.Sprintf("%s in the last %v, and %s pay for %s", plural(f[0], "retry", "retries"),
			milliseconds(g.Budget.Window), plural(f[1], "run", "runs"), decimal(limit))
	case KindTokens:
		kept := ""
		if f[2] > 0 {
			kept = fmt.Sprintf(" and keeps %s in reserve", decimal(f[2]))
		}
		return fmt.Sprintf("the bucket holds %s of %s, a retry takes %d%s",
			decimal(f[0]), plural(g.Tokens.Capacity, "token", "tokens"), f[1], kept)
	case KindSlots:
		return fmt.Sprintf("%d of %s held", f[0], plural(g.Slots.N, "slot is", "slots are"))
	case KindAdaptive:
		return fmt.Sprintf("%d of the last %s succeeded, which is enough for %s", f[0],
			plural(f[1], "attempt", "attempts"), plural(f[2], "attempt", "attempts"))
	}
	return ""
}

func (r *Refusal) breakerReason() string {
	f := r.Figures
	if r.Circuit == HalfOpen {
		return fmt.Sprintf("half-open, with %d of %s under way", f[0], plural(f[1], "probe", "probes"))
	}
	again := ""
	if f[0] > 1 {
		again = fmt.Sprintf(", %d times in a row", f[0])
	}
	return fmt.Sprintf("open%s, after %d of %s failed", again, f[1], plural(f[2], "attempt", "attempts"))
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
