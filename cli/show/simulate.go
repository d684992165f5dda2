package show

// This file is --simulate: it simulates many runs and prints their results as
// sentences, a table and plots, or as one JSON object.

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
	"unicode/utf8"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/simulate"
	"github.com/retrysh/retry/engine/text"
)

// Simulate runs the simulation and prints it.
func Simulate(out io.Writer, o *option.Options) error {
	if o.Simulation.Contention {
		return printContention(out, o)
	}
	herds := make([]namedHerd, len(o.Simulation.Herds))
	each(len(herds), func(i int) {
		h := &o.Simulation.Herds[i]
		herds[i] = namedHerd{h.Name, o.Simulation.Outage.Run(h.Policy, h.Guards, Random(o, 0).Float64)}
	})
	if name := o.Simulation.Svg; name != "" {
		if err := os.WriteFile(name, drawOutage(herds), 0o666); err != nil {
			return err
		}
	}
	if o.LogFormat == "json" {
		return outageJSON(out, herds)
	}
	w := bufio.NewWriter(out)
	summary(w, herds)
	outageTable(w, herds)
	plotOutage(w, herds, canvasOf(out))
	return w.Flush()
}

// Random is what --seed makes repeatable: without it, the seed is fixed.
func Random(o *option.Options, stream uint64) *rand.Rand {
	seed := uint64(1)
	if o.HasSeed {
		seed = o.Seed
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

// namedHerd is the result of the runs of one policy.
type namedHerd struct {
	name string
	simulate.Herd
}

// plainWidth is how wide the text is where there is no terminal.
const plainWidth = 80

// summary writes the sentences about each herd.
func summary(w io.Writer, herds []namedHerd) {
	o := herds[0].Outage
	fmt.Fprintf(w, "%d %s at time 0. The server is down for %s, then serves %s calls per second.\n\n",
		o.Clients, verb(o.Clients, "client fails", "clients fail"), message.Duration(o.Down), number(o.Capacity))
	paragraphs := herds[0].sentences()
	if len(herds) > 1 {
		paragraphs = nil
		for i := range herds {
			paragraphs = append(paragraphs, message.Printable(herds[i].name)+": "+strings.Join(herds[i].sentences(), " "))
		}
	}
	for _, paragraph := range paragraphs {
		fmt.Fprintln(w, strings.Join(text.Wrap(paragraph, plainWidth), "\n"))
	}
	fmt.Fprintln(w)
}

// sentences describe the result of a herd.
func (h *namedHerd) sentences() []string {
	all := []string{
		h.fates() + ".",
		fmt.Sprintf("Peak load: %s while it is down, %s when it is up again.", h.peak(h.PeakDown), h.peak(h.PeakBack)),
	}
	if last, any := h.Quantile(1); any {
		all = append(all, fmt.Sprintf("The last one finishes at %s; the best possible time is %s.", message.Duration(last), message.Duration(h.Outage.BestPossible())))
	}
	all = append(all, fmt.Sprintf("%s calls per client.", number(h.callsEach())))
	if h.LeftOut > 0 {
		all = append(all, fmt.Sprintf("The simulation ends at %s, after %d calls.", message.Duration(h.End), h.Calls))
	}
	return all
}

// fates says how the runs end.
func (h *namedHerd) fates() string {
	if h.Finished == h.Outage.Clients {
		return fmt.Sprintf("All %d finish", h.Finished)
	}
	text := fmt.Sprintf("%d of %d finish", h.Finished, h.Outage.Clients)
	if h.Finished == 0 {
		text = fmt.Sprintf("None of %d finishes", h.Outage.Clients)
	}
	if h.GaveUp > 0 {
		text += fmt.Sprintf(", %d %s up", h.GaveUp, verb(h.GaveUp, "gives", "give"))
	}
	if h.Refused > 0 { // by the guards, those of the most runs first
		guards := slices.SortedFunc(maps.Keys(h.RefusedBy), func(a, b string) int { return cmp.Or(h.RefusedBy[b]-h.RefusedBy[a], cmp.Compare(a, b)) })
		text += fmt.Sprintf(", %d %s refused by %s", h.Refused, verb(h.Refused, "is", "are"), strings.Join(guards, " and "))
	}
	if h.LeftOut > 0 {
		text += fmt.Sprintf(", %d %s still running when the simulation ends", h.LeftOut, verb(h.LeftOut, "is", "are"))
	}
	return text
}

// peak writes a load in units of the capacity.
func (h *namedHerd) peak(load int) string {
	if load == 0 {
		return "no calls"
	}
	return fmt.Sprintf("%d calls per second (%s times the capacity)", load, number(float64(load)/h.Outage.Capacity))
}

func (h *namedHerd) callsEach() float64 { return float64(h.Calls) / float64(h.Outage.Clients) }

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// number shows three digits, and all those before the point.
func number(x float64) string {
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// outageTable writes one line for each herd, in columns as wide as they need to be.
func outageTable(w io.Writer, herds []namedHerd) {
	rows := [][]string{{"name", "finish", "gave up", "refused", "calls", "down/s", "back/s", "p50", "p99", "last"}}
	for i := range herds {
		h := &herds[i]
		row := []string{message.Printable(h.name), strconv.Itoa(h.Finished), strconv.Itoa(h.GaveUp), strconv.Itoa(h.Refused),
			number(h.callsEach()), strconv.Itoa(h.PeakDown), strconv.Itoa(h.PeakBack)}
		for _, share := range []float64{0.5, 0.99, 1} {
			cell := "-"
			if at, any := h.Quantile(share); any {
				cell = message.Duration(at)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
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

// outageRow is one herd of the JSON object.
type outageRow struct {
	Name           string   `json:"name"`
	Clients        int      `json:"clients"`
	Finished       int      `json:"finished"`
	GaveUp         int      `json:"gave_up"`
	Refused        int      `json:"refused"`
	LeftOut        int      `json:"left_out,omitempty"`
	Calls          int      `json:"calls"`
	CallsPerClient float64  `json:"calls_per_client"`
	PeakDown       int      `json:"peak_down_per_s"`
	PeakBack       int      `json:"peak_back_per_s"`
	P50MS          *float64 `json:"p50_ms"`
	P99MS          *float64 `json:"p99_ms"`
	LastMS         *float64 `json:"last_ms"`
	BestPossibleMS float64  `json:"best_possible_ms"`
	Load           []int    `json:"load"`
}

// outageJSON writes one object with a row for each herd.
func outageJSON(out io.Writer, herds []namedHerd) error {
	rows := make([]outageRow, len(herds))
	for i := range herds {
		h := &herds[i]
		quantile := func(share float64) *float64 {
			if at, any := h.Quantile(share); any {
				return limitMS(at)
			}
			return nil
		}
		rows[i] = outageRow{h.name, h.Outage.Clients, h.Finished, h.GaveUp, h.Refused, h.LeftOut, h.Calls, h.callsEach(), h.PeakDown, h.PeakBack,
			quantile(0.5), quantile(0.99), quantile(1), Milliseconds(h.Outage.BestPossible()), h.perSecond()}
	}
	return encodeRows(out, rows)
}

// encodeRows writes an object with these rows. A name may hold anything.
func encodeRows[T any](out io.Writer, rows []T) error {
	w := bufio.NewWriter(out)
	if err := text.WriteJSON(w, map[string][]T{"rows": rows}); err != nil {
		return err
	}
	return w.Flush()
}

// perSecond is the load in each second, up to the last call.
func (h *namedHerd) perSecond() []int {
	if len(h.Load) == 0 {
		return []int{}
	}
	load := make([]int, h.Load[len(h.Load)-1].At/10+1)
	for _, tenth := range h.Load {
		load[tenth.At/10] += tenth.Calls
	}
	return load
}
