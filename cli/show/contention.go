package show

// This file is --simulate contention: the time and the calls of clients that race for
// one row, by how they wait.

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/simulate"
	"github.com/retrysh/retry/engine/text"
)

// printContention runs the races, each with random numbers of its own.
func printContention(out io.Writer, o *option.Options) error {
	numbers, rivals, trials := o.Simulation.Rivals, simulate.Rivals(), o.Trials
	kinds := len(rivals)
	rows := make([]simulate.Race, len(numbers)*kinds)
	each(len(rows), func(i int) {
		rows[i] = rivals[i%kinds].Contend(numbers[i/kinds], trials, Random(o, uint64(i)))
	})
	if o.LogFormat == "json" {
		return text.WriteJSON(out, map[string]any{"rows": rows})
	}
	w := bufio.NewWriter(out)
	most := rows[len(rows)-kinds:] // the races of the most clients
	first := slices.MinFunc(most, func(a, b simulate.Race) int { return cmp.Compare(a.Time, b.Time) })
	fewest := slices.MinFunc(most, func(a, b simulate.Race) int { return cmp.Compare(a.Calls, b.Calls) })
	fmt.Fprintf(w, "Clients race for one row: each reads its version, and writes if that has not changed.\n")
	fmt.Fprintf(w, "Of %d, those with %s are done first, after %s; those with %s make the fewest calls, %s.\n",
		first.Clients, waiting(first.Jitter), message.Duration(time.Duration(first.Time)), waiting(fewest.Jitter), number(fewest.Calls))
	fmt.Fprintf(w, "The time until the last is done, and the writes of all, in the mean of %s:\n\n", text.Count(trials, "trial", "trials"))
	fmt.Fprintf(w, "%7s", "clients")
	for _, r := range most {
		fmt.Fprintf(w, "  %14s", r.Jitter)
	}
	for i, r := range rows {
		if i%kinds == 0 {
			fmt.Fprintf(w, "\n%7d", r.Clients)
		}
		fmt.Fprintf(w, "  %8s %5s", message.Duration(time.Duration(r.Time)), number(r.Calls))
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// waiting names the kind of wait.
func waiting(jitter string) string {
	return cmp.Or(map[string]string{"none": "no wait", "exponential": "no jitter"}[jitter], jitter+" jitter")
}
