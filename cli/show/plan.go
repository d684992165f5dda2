// Package show prints what would happen, and runs nothing: --plan, --explain and
// --simulate, for a person or as JSON.
package show

// This file prints what a policy promises, and its schedule of waits.

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/plan"
	"github.com/retrysh/retry/engine/text"
)

// Plan writes the longest run, the outages that are survived, one line for each
// wait, and a line of time. --seed does not change them.
func Plan(out io.Writer, o *option.Options) error {
	p := o.Policy
	if p.Attempts > plan.MostAttempts {
		return option.Usage("--attempts",
			fmt.Errorf("--plan is made for at most %d attempts, not for %d; use -n 0 with --deadline for a run that "+
				"is limited by its time", plan.MostAttempts, p.Attempts))
	}
	draw := func() func() float64 { return rand.New(rand.NewPCG(1, 0)).Float64 }
	promise := plan.Promises(p, draw())
	var need *plan.Need
	if o.Outage > 0 {
		need = plan.Needs(p, o.Outage, draw)
	}
	if o.LogFormat == "json" {
		return text.WriteJSON(out, struct {
			plan.Promise
			*plan.Need
			Waits []plan.Row `json:"waits"`
		}{promise, need, plan.Rows(p)})
	}
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s\n%s\n", longestRun(p, time.Duration(promise.Longest)), survived(p, promise))
	if need != nil {
		fmt.Fprintln(w, needed(o.Outage, need))
	}
	fmt.Fprintln(w)
	at := planTable(w, p)
	if p.Attempts > 0 { // the table of unlimited attempts is cut
		timeline(w, at, cmp.Or(o.Outage, time.Duration(promise.OutlivesHalf)))
	}
	return w.Flush()
}

// longestRun says how long all can take, and by what.
func longestRun(p engine.Policy, longest time.Duration) string {
	switch {
	case longest < plan.Unlimited && longest == p.Deadline:
		return "worst case: " + message.Duration(longest) + " (--deadline)"
	case longest < plan.Unlimited:
		return fmt.Sprintf("worst case: %s (%s of %s plus the longest waits)", message.Duration(longest),
			message.Attempts(p.Attempts), exact(p.Timeout))
	case p.Attempts == 0:
		return "worst case: unlimited (neither --attempts nor --deadline limits it)"
	case p.Timeout == 0:
		return "worst case: unlimited (neither --timeout nor --deadline limits an attempt)"
	}
	return "worst case: more than 292 years"
}

// survived says which outages the waits cover.
func survived(p engine.Policy, promise plan.Promise) string {
	half, most := time.Duration(promise.OutlivesHalf), time.Duration(promise.OutlivesMost)
	switch {
	case p.UntilFailure:
		return "survives no outage: --until-failure ends with the first failure"
	case p.Attempts == 1:
		return "survives no outage: there is only one attempt"
	case half == 0:
		return "survives no outage"
	case most == plan.Unlimited:
		return "survives an outage of any length"
	case half == most:
		return fmt.Sprintf("survives an outage of %s (if attempts fail at once)", message.Duration(half))
	}
	usual := "any length"
	if half != plan.Unlimited {
		usual = message.Duration(half)
	}
	return fmt.Sprintf("survives an outage of %s in 50%% of runs, of %s in 99%% (if attempts fail at once)", usual,
		message.Duration(most))
}

// needed says which flags survive the outage in 99 % of runs.
func needed(outage time.Duration, need *plan.Need) string {
	var ways []string
	if need.Attempts != nil {
		ways = append(ways, fmt.Sprintf("--attempts %d", *need.Attempts))
	}
	if d := time.Duration(need.Deadline); d < plan.Unlimited {
		unit := time.Millisecond
		if d >= time.Minute {
			unit = time.Second
		}
		ways = append(ways, "--attempts 0 --deadline "+message.Limit((d+unit-1).Truncate(unit)))
	}
	if len(ways) == 0 {
		return fmt.Sprintf("an outage of %s cannot be survived with up to %d attempts", message.Limit(outage),
			plan.MostAttempts)
	}
	return "to survive an outage of " + message.Limit(outage) + " in 99% of runs: " + strings.Join(ways, ", or ")
}

// planTable writes one line for each wait, and returns the means of the times at
// which the attempts begin, counted from the first.
func planTable(w *bufio.Writer, p engine.Policy) []time.Duration {
	if first := backoff.Add(p.InitialDelay, p.Splay); first > 0 {
		fmt.Fprintf(w, "before attempt 1: %s to %s\n", message.Duration(p.InitialDelay), message.Duration(first))
	}
	fmt.Fprintf(w, "%-8s %13s %12s %12s %12s %16s\n", "wait", "before jitter", "shortest", "average", "longest",
		"sum at most")
	late := false
	at := []time.Duration{0}
	for _, r := range plan.Rows(p) {
		at = append(at, backoff.Add(at[len(at)-1], time.Duration(r.Mean)))
		mark := ""
		if r.PastDeadline {
			mark, late = " *", true
		}
		fmt.Fprintf(w, "%-8d %13s %12s %12s %12s %16s%s\n", r.Number,
			exact(r.Plain), exact(r.Least), exact(r.Mean), exact(r.Greatest), exact(r.WorstCase), mark)
	}
	attempts, most := len(at), p.Attempts // most is that of the table
	if most == 0 {
		most = plan.UnlimitedRows + 1
	}
	switch {
	case p.Attempts == 1:
		fmt.Fprintln(w, "no wait: there is one attempt only")
	case p.Deadline > 0 && attempts < most:
		fmt.Fprintf(w, "wait %d would end past the deadline of %s, so attempt %[1]d is the last\n", attempts,
			exact(p.Deadline))
	case p.Attempts == 0:
		fmt.Fprintln(w, "and so on: attempts are unlimited")
	}
	if late {
		fmt.Fprintf(w, "* where it would end past the deadline of %s, the wait is not begun\n", exact(p.Deadline))
	}
	return at
}

// timeline draws the attempts at the means of their times on a line, and the outage below it.
func timeline(w *bufio.Writer, at []time.Duration, outage time.Duration) {
	end := at[len(at)-1]
	if end <= 0 || end == plan.Unlimited || outage == plan.Unlimited {
		return
	}
	end = max(end, outage)
	columns := plainWidth - labelWidth - 1
	column := func(d time.Duration) int { return int(float64(columns-1) * float64(d) / float64(end)) }
	line := bytes.Repeat([]byte{'-'}, columns)
	for _, d := range at {
		line[column(d)] = '|'
	}
	last := message.Duration(end)
	fmt.Fprintf(w, "\n%*s %s\n%*s 0s%*s\n", labelWidth, "attempts", line, labelWidth, "average", columns-2, last)
	if outage > 0 {
		fmt.Fprintf(w, "%*s %s\n", labelWidth, "outage", strings.Repeat("#", column(outage)+1))
	}
}

// exact shows a duration to the microsecond.
func exact[D time.Duration | text.MS](d D) string {
	return time.Duration(d).Round(time.Microsecond).String()
}
