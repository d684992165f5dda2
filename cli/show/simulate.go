package show

// This file is --simulate: it simulates many runs and prints their results as sentences, a
// table and plots, or as one JSON object.

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/simulate"
	"github.com/retrysh/retry/engine/text"
)

// Simulate runs the simulation and prints it.
func Simulate(out io.Writer, o *option.Options) error {
	herds := make([]simulate.Herd, len(o.Simulation.Herds))
	needs := make([]*simulate.Need, len(herds))
	each(len(herds), func(i int) {
		h := &o.Simulation.Herds[i]
		draw := func() func() float64 { return Random(o, 0).Float64 }
		herds[i] = o.Simulation.Outage.Run(h.Policy, h.Guards, draw())
		herds[i].Name = h.Name
		if o.LogFormat != "json" {
			needs[i] = herds[i].Needs(h.Policy, h.Guards, draw)
		}
	})
	if name := o.Svg; name != "" {
		if err := os.WriteFile(string(name), drawOutage(herds), 0o666); err != nil {
			return err
		}
	}
	if o.LogFormat == "json" {
		return text.WriteJSON(out, map[string]any{"rows": herds})
	}
	w := bufio.NewWriter(out)
	summary(w, herds, needs)
	outageTable(w, herds)
	plotOutage(w, herds, canvasOf(out))
	return w.Flush()
}

// Random is what --seed makes repeatable: without it, the seed is fixed.
func Random(o *option.Options, stream uint64) *rand.Rand {
	seed := uint64(1)
	if o.Given("seed") {
		seed = uint64(o.Seed)
	}
	return rand.New(rand.NewPCG(seed, stream))
}

// each does the n parts of some work, as many at a time as there are processors.
func each(n int, work func(i int)) {
	var wg sync.WaitGroup
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		turns <- struct{}{}
		wg.Go(func() {
			work(i)
			<-turns
		})
	}
	wg.Wait()
}

// plainWidth is the width of the text, and of a plot if it is not drawn on a terminal.
const plainWidth = 80

// summary writes the sentences about each herd.
func summary(w io.Writer, herds []simulate.Herd, needs []*simulate.Need) {
	o := herds[0].Outage
	fmt.Fprintf(w, "%s at time 0. The server is down for %s, then serves %s calls per second.\n\n",
		text.Count(o.Clients, "client fails", "clients fail"), message.Duration(o.Down), number(o.Capacity))
	paragraphs := sentences(&herds[0], needs[0])
	if len(herds) > 1 {
		paragraphs = nil
		for i := range herds {
			paragraphs = append(paragraphs,
				message.Printable(herds[i].Name)+": "+strings.Join(sentences(&herds[i], needs[i]), " "))
		}
	}
	for _, paragraph := range paragraphs {
		fmt.Fprintln(w, strings.Join(text.Wrap(paragraph, plainWidth), "\n"))
	}
	fmt.Fprintln(w)
}

func sentences(h *simulate.Herd, need *simulate.Need) []string {
	all := []string{fates(h) + "."}
	if need != nil {
		all = append(all, enough(need))
	}
	all = append(all,
		fmt.Sprintf("Peak load: %s while it is down, %s when it is up again.", peak(h, h.PeakDown),
			peak(h, h.PeakBack)))
	if h.Last != nil {
		all = append(all,
			fmt.Sprintf("The last one finishes at %s; the best possible time is %s.", at(h.Last), at(&h.BestPossible)))
	}
	all = append(all, fmt.Sprintf("%s calls per client.", number(h.CallsEach)))
	if h.LeftOut > 0 {
		all = append(all, fmt.Sprintf("The simulation ends at %s, after %d calls.", message.Duration(h.End), h.Calls))
	}
	return all
}

// enough says with which flag nearly all would finish.
func enough(need *simulate.Need) string {
	switch {
	case need.Attempts > 0:
		return fmt.Sprintf("With --attempts %d, 99 of 100 would finish.", need.Attempts)
	case need.Deadline > 0:
		return "With --deadline " + message.Limit(need.Deadline) + ", 99 of 100 would finish."
	case need.ByDeadline:
		return "With no --deadline would 99 of 100 finish."
	}
	return "With no --attempts up to 1000 would 99 of 100 finish."
}

func fates(h *simulate.Herd) string {
	if h.Finished == h.Outage.Clients {
		return fmt.Sprintf("All %d finish", h.Finished)
	}
	all := fmt.Sprintf("%d of %d finish", h.Finished, h.Outage.Clients)
	if h.Finished == 0 {
		all = fmt.Sprintf("None of %d finishes", h.Outage.Clients)
	}
	if h.GaveUp > 0 {
		all += ", " + text.Count(h.GaveUp, "gives", "give") + " up"
	}
	if h.Refused > 0 { // by the guards, those of the most runs first
		guards := slices.SortedFunc(maps.Keys(h.RefusedBy),
			func(a, b string) int { return cmp.Or(h.RefusedBy[b]-h.RefusedBy[a], cmp.Compare(a, b)) })
		all += ", " + text.Count(h.Refused, "is", "are") + " refused by " + strings.Join(guards, " and ")
	}
	if h.LeftOut > 0 {
		all += ", " + text.Count(h.LeftOut, "is", "are") + " still running when the simulation ends"
	}
	return all
}

// peak writes a load in units of the capacity.
func peak(h *simulate.Herd, load int) string {
	if load == 0 {
		return "no calls"
	}
	return fmt.Sprintf("%d calls per second (%s times the capacity)", load, number(float64(load)/h.Outage.Capacity))
}

// at shows a time, "-" for none.
func at(d *text.MS) string {
	if d == nil {
		return "-"
	}
	return message.Duration(time.Duration(*d))
}

// number shows three digits, and all those before the point.
func number(x float64) string {
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// outageTable writes one line for each herd, in columns as wide as they need to be.
func outageTable(w io.Writer, herds []simulate.Herd) {
	rows := [][]string{
		{"", "", "gave", "", "calls", "peak/s", "peak/s", "half", "99%", "all"},
		{"name", "finish", "up", "refused", "each", "outage", "after", "done", "done", "done"},
	}
	for i := range herds {
		h := &herds[i]
		rows = append(rows, []string{
			message.Printable(h.Name), strconv.Itoa(h.Finished), strconv.Itoa(h.GaveUp), strconv.Itoa(h.Refused),
			number(h.CallsEach), strconv.Itoa(h.PeakDown), strconv.Itoa(h.PeakBack), at(h.P50), at(h.P99), at(h.Last),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(w, "%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(w, "  %*s", widths[i+1], cell)
		}
		fmt.Fprintln(w)
	}
}
