package show

// This file is --simulate: it follows many runs through arithmetic time and says
// what became of them, in sentences, as a table and as plots, or as one object.

import (
	"bufio"
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

// Simulate follows what was asked for, and prints.
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
	tellOutage(w, herds)
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

// each does the n parts of some work, as many at a time as there are
// processors.
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

// namedHerd is what came of the runs of one policy.
type namedHerd struct {
	name string
	simulate.Herd
}

// tellOutage says what a person needs to know first: how many finish, the load
// against the capacity, when it is over, and what it takes.
func tellOutage(w io.Writer, herds []namedHerd) {
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

// sentences describe what came of a herd.
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
	if h.Refused > 0 {
		text += fmt.Sprintf(", %d %s refused by %s", h.Refused, verb(h.Refused, "is", "are"), h.refusers())
	}
	if h.LeftOut > 0 {
		text += fmt.Sprintf(", %d %s still running when the simulation ends", h.LeftOut, verb(h.LeftOut, "is", "are"))
	}
	return text
}

// refusers are the guards that refused, those of the most runs first.
func (h *namedHerd) refusers() string {
	kinds := slices.Sorted(maps.Keys(h.RefusedBy))
	slices.SortStableFunc(kinds, func(a, b string) int { return h.RefusedBy[b] - h.RefusedBy[a] })
	return strings.Join(kinds, " and ")
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

// outageTable writes one line for each herd, its columns as wide as they need to
// be.
func outageTable(w io.Writer, herds []namedHerd) {
	rows := [][]string{{"name", "finish", "gave up", "refused", "calls", "down/s", "back/s", "p50", "p99", "last"}}
	for i := range herds {
		h := &herds[i]
		quantile := func(share float64) string {
			if at, any := h.Quantile(share); any {
				return message.Duration(at)
			}
			return "-"
		}
		rows = append(rows, []string{
			message.Printable(h.name), strconv.Itoa(h.Finished), strconv.Itoa(h.GaveUp), strconv.Itoa(h.Refused), number(h.callsEach()),
			strconv.Itoa(h.PeakDown), strconv.Itoa(h.PeakBack), quantile(0.5), quantile(0.99), quantile(1),
		})
	}
	for _, row := range rows {
		for column, cell := range row {
			width := 0
			for _, other := range rows {
				width = max(width, utf8.RuneCountInString(other[column]))
			}
			if column == 0 {
				fmt.Fprintf(w, "%-*s", width, cell)
			} else {
				fmt.Fprintf(w, "  %*s", width, cell)
			}
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
			at, any := h.Quantile(share)
			if !any {
				return nil
			}
			ms := Milliseconds(at)
			return &ms
		}
		rows[i] = outageRow{
			Name: h.name, Clients: h.Outage.Clients, Finished: h.Finished, GaveUp: h.GaveUp, Refused: h.Refused, LeftOut: h.LeftOut,
			Calls: h.Calls, CallsPerClient: h.callsEach(), PeakDown: h.PeakDown, PeakBack: h.PeakBack,
			P50MS: quantile(0.5), P99MS: quantile(0.99), LastMS: quantile(1),
			BestPossibleMS: Milliseconds(h.Outage.BestPossible()), Load: h.perSecond(),
		}
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

// plainWidth is how wide the text is where there is no terminal.
const plainWidth = 80
