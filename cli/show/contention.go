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
)

// contentionRow is one race of the JSON object.
type contentionRow struct {
	Clients int     `json:"clients"`
	Jitter  string  `json:"jitter"`
	TimeMS  float64 `json:"time_ms"`
	Calls   float64 `json:"calls"`
	time    time.Duration
}

// printContention runs the races, each with random numbers of its own.
func printContention(out io.Writer, o *option.Options) error {
	numbers, rivals, trials := o.Simulation.Rivals(), simulate.Rivals(), o.Simulation.Trials
	kinds := len(rivals)
	rows := make([]contentionRow, len(numbers)*kinds)
	each(len(rows), func(i int) {
		clients, rival := numbers[i/kinds], &rivals[i%kinds]
		race := rival.Contend(clients, trials, Random(o, uint64(i)))
		rows[i] = contentionRow{clients, rival.Name, Milliseconds(race.Time), race.Calls, race.Time}
	})
	if o.LogFormat == "json" {
		return encodeRows(out, rows)
	}
	w := bufio.NewWriter(out)
	most := rows[len(rows)-kinds:] // the races of the most clients
	first := slices.MinFunc(most, func(a, b contentionRow) int { return cmp.Compare(a.time, b.time) })
	fewest := slices.MinFunc(most, func(a, b contentionRow) int { return cmp.Compare(a.Calls, b.Calls) })
	fmt.Fprintf(w, "Clients race for one row: each reads its version, and writes if that has not changed.\n")
	fmt.Fprintf(w, "Of %d, those with %s are done first, after %s; those with %s make the fewest calls, %s.\n",
		first.Clients, first.waiting(), message.Duration(first.time), fewest.waiting(), number(fewest.Calls))
	fmt.Fprintf(w, "The time until the last is done, and the writes of all, in the mean of %d %s:\n\n", trials, verb(trials, "trial", "trials"))
	fmt.Fprintf(w, "%7s", "clients")
	for _, r := range most {
		fmt.Fprintf(w, "  %14s", r.Jitter)
	}
	for i, r := range rows {
		if i%kinds == 0 {
			fmt.Fprintf(w, "\n%7d", r.Clients)
		}
		fmt.Fprintf(w, "  %8s %5s", message.Duration(r.time), number(r.Calls))
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// waiting names the kind of wait.
func (r *contentionRow) waiting() string {
	switch r.Jitter {
	case "none":
		return "no wait"
	case "exponential":
		return "no jitter"
	}
	return r.Jitter + " jitter"
}
