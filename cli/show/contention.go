package show

// This file is --simulate contention: time and calls of clients that race for
// one row, by how they wait.

import (
	"bufio"
	"fmt"
	"io"

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
	race    simulate.Race
}

// printContention runs the races, each with random numbers of its own.
func printContention(out io.Writer, o *option.Options) error {
	numbers := o.Simulation.Rivals()
	rivals := simulate.Rivals()
	rows := make([]contentionRow, len(numbers)*len(rivals))
	each(len(rows), func(i int) {
		clients, rival := numbers[i/len(rivals)], &rivals[i%len(rivals)]
		race := rival.Contend(clients, o.Simulation.Trials, Random(o, uint64(i)))
		rows[i] = contentionRow{clients, rival.Name, Milliseconds(race.Time), race.Calls, race}
	})
	if o.LogFormat == "json" {
		return encodeRows(out, rows)
	}
	w := bufio.NewWriter(out)
	tellContention(w, rows[len(rows)-len(rivals):], o.Simulation.Trials)
	contentionTable(w, rows, len(rivals))
	return w.Flush()
}

// tellContention says who is best among the most clients.
func tellContention(w io.Writer, rows []contentionRow, trials int) {
	first, fewest := rows[0], rows[0]
	for _, r := range rows {
		if r.race.Time < first.race.Time {
			first = r
		}
		if r.Calls < fewest.Calls {
			fewest = r
		}
	}
	fmt.Fprintf(w, "Clients race for one row: each reads its version, and writes if that has not changed.\n")
	fmt.Fprintf(w, "Of %d, those with %s are done first, after %s; those with %s make the fewest calls, %s.\n",
		rows[0].Clients, first.waiting(), message.Duration(first.race.Time), fewest.waiting(), number(fewest.Calls))
	fmt.Fprintf(w, "The time until the last is done, and the writes of all, in the mean of %d %s:\n\n", trials, verb(trials, "trial", "trials"))
}

// waiting is the kind of waiting in words.
func (r *contentionRow) waiting() string {
	switch r.Jitter {
	case "none":
		return "no wait"
	case "exponential":
		return "no jitter"
	}
	return r.Jitter + " jitter"
}

// contentionTable writes one line for each number of clients.
func contentionTable(w io.Writer, rows []contentionRow, kinds int) {
	fmt.Fprintf(w, "%7s", "clients")
	for _, r := range rows[:kinds] {
		fmt.Fprintf(w, "  %14s", r.Jitter)
	}
	for i, r := range rows {
		if i%kinds == 0 {
			fmt.Fprintf(w, "\n%7d", r.Clients)
		}
		fmt.Fprintf(w, "  %8s %5s", message.Duration(r.race.Time), number(r.Calls))
	}
	fmt.Fprintln(w)
}
