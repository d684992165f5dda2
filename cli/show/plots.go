package show

// This file draws plots with characters: bars of eighths of a cell if the
// terminal shows them, plain characters otherwise.

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/simulate"
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

// canvasOf looks at where the plots go. Block characters need a terminal and a locale in UTF-8
// (the first of LC_ALL, LC_CTYPE and LANG that is set, as in locale(7)).
func canvasOf(out io.Writer) canvas {
	plain := canvas{plainWidth - labelWidth - 1, []rune(" .:#"), '|', '-'}
	f, is := out.(*os.File)
	if !is || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return plain
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		plain.columns = min(max(width-labelWidth-1, 20), 150)
	}
	locale := strings.ToUpper(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	if strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8") {
		return canvas{plain.columns, []rune(" ▁▂▃▄▅▆▇█"), '│', '╌'}
	}
	return plain
}

// plot is a row of bars.
type plot struct {
	bars []float64
	// top is what a bar of full height stands for, mark where a line is drawn, 0 for none.
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

// barWidths are times that a person can count in, in tenths of a second: that is how
// finely calls are counted.
var barWidths = []time.Duration{
	1, 2, 3, 5, 10, 20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 400, 600, 1200, 1800, 3000, 6000, 9000, 12000,
	18000,
	36000, 72000, 108000, 216000, 432000, 864000, 1728000,
}

const tenth = time.Second / 10

// fit returns the width of a bar, and how many there are, so that they reach to the end.
func fit(end time.Duration, columns int) (time.Duration, int) {
	for _, tenths := range barWidths {
		if n := int(end/(tenths*tenth)) + 1; n <= columns {
			return tenths * tenth, n
		}
	}
	return end/time.Duration(columns) + 1, columns
}

func endOf(herds []simulate.Herd) time.Duration {
	return slices.MaxFunc(herds, func(a, b simulate.Herd) int { return cmp.Compare(a.End, b.End) }).End
}

// What is drawn of the load is at least leastTop and at most mostTop times the
// capacity: what happens near it matters, and the peaks are in the text.
const leastTop, mostTop = 1.5, 5

// loads are the calls per second of each herd in bars of this width, and the load of
// a bar of full height.
func loads(herds []simulate.Herd, width time.Duration, bars int) (all [][]float64, top float64) {
	capacity := herds[0].Outage.Capacity
	top = leastTop * capacity
	for i := range herds {
		load := make([]float64, bars)
		for _, t := range herds[i].Tenths {
			if at := int(time.Duration(t.At) * tenth / width); at < bars {
				load[at] += float64(t.Calls) / width.Seconds()
			}
		}
		top = max(top, slices.Max(append(load[1:], 0)))
		all = append(all, load)
	}
	return all, min(top, mostTop*capacity)
}

// finished is the share of the runs that have finished by the end of each bar.
func finished(h *simulate.Herd, width time.Duration, bars int) []float64 {
	share, done := make([]float64, bars), 0
	for i := range share {
		for done < h.Finished && h.FinishedAt[done] < width*time.Duration(i+1) {
			done++
		}
		share[i] = float64(done) / float64(h.Outage.Clients)
	}
	return share
}

// plotOutage draws the load over time and the finished over time, all herds to the same scale.
func plotOutage(w *bufio.Writer, herds []simulate.Herd, c canvas) {
	width, bars := fit(endOf(herds), c.columns)
	several := len(herds) > 1
	height := 6
	if several {
		height = 3
	}
	plots := func(p plot, bars func(i int) []float64) {
		for i := range herds {
			if several {
				fmt.Fprintf(w, "%*s%s\n", labelWidth+1, "", message.Printable(herds[i].Name))
			}
			p.bars = bars(i)
			p.draw(w, c)
		}
		end := message.Duration(width * time.Duration(len(p.bars)))
		fmt.Fprintf(w, "%*s%s%*s\n", labelWidth+1, "", "0", max(len(p.bars)-1, len(end)+1), end)
	}
	all, top := loads(herds, width, bars)
	fmt.Fprintf(w, "\nCalls per second in intervals of %s, cut off above; the line is the capacity.\n",
		message.Duration(width))
	plots(plot{top: top, mark: herds[0].Outage.Capacity, height: height, label: number},
		func(i int) []float64 { return all[i] })
	herds = slices.DeleteFunc(slices.Clone(herds), func(h simulate.Herd) bool { return h.Finished == 0 })
	if len(herds) == 0 {
		return
	}
	fmt.Fprintf(w, "\nRuns that have finished.\n")
	percent := func(x float64) string { return strconv.Itoa(int(100*x)) + "%" }
	plots(plot{top: 1, height: height, label: percent},
		func(i int) []float64 { return finished(&herds[i], width, bars) })
}
