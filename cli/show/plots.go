package show

// This file draws plots with characters: bars of eighths of a cell where the
// terminal shows them, plain characters elsewhere.

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/retrysh/retry/engine/message"
)

// canvas is what is drawn on.
type canvas struct {
	columns int
	// levels fill a cell, from nothing to all of it.
	levels []rune
	// edge is left of a plot, line where its mark is.
	edge, line rune
}

// labelWidth is what stands left of a plot.
const labelWidth = 9

// canvasOf looks at where the plots go. Block characters need a terminal and a
// locale in UTF-8 (the first of LC_ALL, LC_CTYPE and LANG that is set, as in
// locale(7)).
func canvasOf(out io.Writer) canvas {
	plain := canvas{plainWidth - labelWidth - 1, []rune(" .:#"), '|', '-'}
	f, is := out.(*os.File)
	if !is || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return plain
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		plain.columns = min(max(width-labelWidth-1, 20), 150)
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToUpper(os.Getenv(name)); locale != "" {
			if strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8") {
				return canvas{plain.columns, []rune(" ▁▂▃▄▅▆▇█"), '│', '╌'}
			}
			break
		}
	}
	return plain
}

// plot is a row of bars.
type plot struct {
	bars []float64
	// top is what a bar of full height stands for, mark where a line is drawn,
	// 0 for none.
	top, mark float64
	height    int
	label     func(value float64) string
}

// draw writes the plot from its top row down.
func (p *plot) draw(w io.Writer, c canvas) {
	full := len(c.levels) - 1
	marked := -1
	if p.mark > 0 && p.mark <= p.top {
		marked = min(int(p.mark/p.top*float64(p.height)), p.height-1)
	}
	for row := p.height - 1; row >= 0; row-- {
		label := ""
		switch row {
		case marked:
			label = p.label(p.mark)
		case p.height - 1:
			label = p.label(p.top)
		case 0:
			label = p.label(0)
		}
		cells := make([]rune, len(p.bars))
		for i, bar := range p.bars {
			level := int(math.Ceil(min(bar/p.top, 1)*float64(p.height*full))) - row*full
			cells[i] = c.levels[min(max(level, 0), full)]
			if level <= 0 && row == marked {
				cells[i] = c.line
			}
		}
		fmt.Fprintf(w, "%*s %c%s\n", labelWidth-1, label, c.edge, strings.TrimRight(string(cells), " "))
	}
}

// axis writes the times below plots of bars of this width.
func axis(w io.Writer, bars int, width time.Duration) {
	end := message.Duration(width * time.Duration(bars))
	fmt.Fprintf(w, "%*s%s%*s\n", labelWidth+1, "", "0", max(bars-1, len(end)+1), end)
}

// barWidths are times that a person can count in, a tenth of a second first: that
// is how finely calls are counted.
var barWidths = []time.Duration{
	time.Second / 10, time.Second / 5, 3 * time.Second / 10, time.Second / 2,
	time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 6 * time.Second, 8 * time.Second,
	10 * time.Second, 12 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, 40 * time.Second,
	time.Minute, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour,
}

// fit returns the width of a bar, and how many there are, so that they reach to
// the end.
func fit(end time.Duration, columns int) (time.Duration, int) {
	for _, width := range barWidths {
		if n := int(end/width) + 1; n <= columns {
			return width, n
		}
	}
	width := end/time.Duration(columns) + 1
	return width, columns
}

// ends is when the last herd is done.
func ends(herds []namedHerd) time.Duration {
	end := time.Duration(0)
	for i := range herds {
		end = max(end, herds[i].End)
	}
	return end
}

// load is the calls a second in each bar.
func (h *namedHerd) load(width time.Duration, bars int) []float64 {
	load := make([]float64, bars)
	for _, t := range h.Load {
		if at := int(time.Duration(t.At) * (time.Second / 10) / width); at < bars {
			load[at] += float64(t.Calls) / width.Seconds()
		}
	}
	return load
}

// What is drawn of the load is at least leastTop and at most mostTop times the
// capacity: what happens near it matters, and the peaks are in the text.
const leastTop, mostTop = 1.5, 5

// topLoad is the load of a bar of full height.
func topLoad(loads [][]float64, capacity float64) float64 {
	most := leastTop * capacity
	for _, load := range loads {
		for _, calls := range load[min(1, len(load)):] {
			most = max(most, calls)
		}
	}
	return min(most, mostTop*capacity)
}

// finished is the share of the runs that have finished by the end of each bar.
func (h *namedHerd) finished(width time.Duration, bars int) []float64 {
	share := make([]float64, bars)
	done := 0
	for i := range share {
		for done < h.Finished && h.FinishedAt[done] < width*time.Duration(i+1) {
			done++
		}
		share[i] = float64(done) / float64(h.Outage.Clients)
	}
	return share
}

// plotOutage draws the load over time and the finished over time, all herds to
// the same scale.
func plotOutage(w *bufio.Writer, herds []namedHerd, c canvas) {
	width, bars := fit(ends(herds), c.columns)
	height := 6
	if len(herds) > 1 {
		height = 3
	}
	capacity := herds[0].Outage.Capacity
	var all [][]float64
	for i := range herds {
		all = append(all, herds[i].load(width, bars))
	}
	load := plot{top: topLoad(all, capacity), mark: capacity, height: height, label: number}
	fmt.Fprintf(w, "\nCalls per second in intervals of %s, cut off above; the line is the capacity.\n", message.Duration(width))
	for i := range herds {
		title(w, herds, i)
		load.bars = all[i]
		load.draw(w, c)
	}
	axis(w, bars, width)
	fmt.Fprintf(w, "\nRuns that have finished.\n")
	done := plot{top: 1, height: height, label: func(x float64) string { return strconv.Itoa(int(100*x)) + "%" }}
	for i := range herds {
		title(w, herds, i)
		done.bars = herds[i].finished(width, bars)
		done.draw(w, c)
	}
	axis(w, bars, width)
}

// title names a herd where there are several.
func title(w io.Writer, herds []namedHerd, i int) {
	if len(herds) > 1 {
		fmt.Fprintf(w, "%*s%s\n", labelWidth+1, "", message.Printable(herds[i].name))
	}
}
