package cli

// This file prints the schedule of a policy for a person.

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/retrysh/retry/cli/human"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/plan"
)

// printPlan writes one line for each wait.
func printPlan(out io.Writer, p engine.Policy) error {
	w := bufio.NewWriter(out)
	if first := backoff.Add(p.InitialDelay, p.Splay); first > 0 {
		fmt.Fprintf(w, "before attempt 1: %s to %s\n", human.Duration(p.InitialDelay), human.Duration(first))
	}
	fmt.Fprintf(w, "%-8s %12s %12s %12s %12s %16s\n", "wait", "plain", "least", "mean", "greatest", "worst case so far")
	rows, late := 0, false
	plan.Rows(p, func(r plan.Row) bool {
		rows++
		mark := ""
		if r.PastDeadline {
			mark, late = " *", true
		}
		_, err := fmt.Fprintf(w, "%-8d %12s %12s %12s %12s %17s%s\n", r.Number,
			exact(r.Plain), exact(r.Least), exact(r.Mean), exact(r.Greatest), exact(r.WorstCase), mark)
		return err == nil
	})
	switch {
	case p.Attempts == 1:
		fmt.Fprintln(w, "no wait: there is one attempt only")
	case p.Deadline > 0 && (p.Attempts == 0 || rows < p.Attempts-1) && (p.Attempts > 0 || rows < plan.UnlimitedRows):
		fmt.Fprintf(w, "wait %d would end past the deadline of %s, so attempt %d is the last\n", rows+1, exact(p.Deadline), rows+1)
	case p.Attempts == 0:
		fmt.Fprintln(w, "and so on: attempts are unlimited")
	}
	if late {
		fmt.Fprintf(w, "* where it would end past the deadline of %s, the wait is not begun\n", exact(p.Deadline))
	}
	return w.Flush()
}

// exact shows a duration to the microsecond.
func exact(d time.Duration) string { return d.Round(time.Microsecond).String() }
