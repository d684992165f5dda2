package report

// This file prints the report for a terminal, and in Markdown for a CI system.

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/fatih/color"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/history"
)

// bars are the heights of a spark line, from no failure to nothing but failures.
var bars = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// noRun stands for a part of the time without a run.
const noRun = '·'

// spark draws the shares of a group.
func spark(g *history.Group) string {
	var b strings.Builder
	for _, share := range g.Spark {
		bar := noRun
		if share != nil {
			bar = bars[int(math.Ceil(*share*float64(len(bars)-1)))]
		}
		b.WriteRune(bar)
	}
	return b.String()
}

// shades are the colours of the classes that are not red.
var shades = map[string]color.Attribute{history.Steady: color.FgGreen, history.Flaky: color.FgYellow}

// text prints the report for a person.
func (r *Report) text() {
	color.NoColor = !r.Colored()
	for _, sentence := range r.sentences() {
		r.Print(sentence + "\n")
	}
	r.Print("\n")
	const longestName, shortestName, others = 60, 12, 64 // columns, so that the spark line is seen
	width := r.Width()
	most := min(longestName, max(shortestName, cmp.Or(width, longestName+others)-others))
	// What matters most stands first: a narrow terminal cuts the end.
	columns := []column{
		classColumn, runsColumn, sparkColumn, recoveredColumn, gaveUpColumn, retriedColumn, firstColumn,
		atLeastColumn, lostColumn,
	}
	header := []string{strings.ToUpper(string(r.By))}
	for _, c := range columns {
		header = append(header, c.short)
	}
	rows := [][]string{header}
	for _, g := range r.Groups {
		rows = append(rows, append([]string{mode.Cut(r.named(g), most)}, cells(columns, g)...))
	}
	for i, line := range strings.Split(strings.TrimSuffix(mode.Table(width, rows), "\n"), "\n") {
		shade := color.Bold
		if i > 0 {
			shade = cmp.Or(shades[r.Groups[i-1].Class], color.FgRed)
		}
		r.Print(color.New(shade).Sprint(line) + "\n")
	}
	for i, warned := range r.Warnings {
		if i == 0 {
			r.Print("\n")
		}
		r.Print(color.New(color.FgYellow).Sprint("Warning: "+describe(warned)) + "\n")
	}
}

// largestMarkdown is what GitHub takes for a step's summary (1 MiB), with a margin.
const largestMarkdown = 900 << 10

// markdown prints the report for the summary of a CI job. What it leaves out for
// want of space is said.
func (r *Report) markdown() {
	b := &r.Call.Out
	fmt.Fprintf(b, "## Retries\n\n%s\n\n", strings.Join(r.sentences(), " "))
	for _, warned := range r.Warnings {
		fmt.Fprintf(b, "> ⚠️ %s\n\n", describe(warned))
	}
	if len(r.Groups) > 0 {
		header := r.header()
		fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	}
	const space = 1 << 10 // for what is said of the rest
	for i, g := range r.Groups {
		row := fmt.Sprintf("| %s | %s | %s | `%s` |\n", code(r.named(g)), classColumn.cell(g),
			strings.Join(cells(figures(), g), " | "), spark(g))
		if b.Len()+len(row) > largestMarkdown-space {
			fmt.Fprintf(b, "\n%d more are left out, since a summary has at most %d KiB.\n", len(r.Groups)-i,
				largestMarkdown>>10)
			break
		}
		b.WriteString(row)
	}
}

// code is a text as a code span in a table, in which nothing is a mention, a link
// or markup. A pipe would end the cell, also within a span: it is escaped, with an
// odd number of backslashes before it (GitHub Flavored Markdown, example 200).
func code(text string) string {
	var b strings.Builder
	backslashes := 0
	for _, c := range text {
		switch c {
		case '\\':
			backslashes++
		case '|':
			b.WriteString(strings.Repeat(`\`, 1+backslashes%2))
			fallthrough
		default:
			backslashes = 0
		}
		b.WriteRune(c)
	}
	text = b.String()
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") ||
		strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
		text = " " + text + " "
	}
	return fence + text + fence
}
