package report

// This file prints the report as one HTML file, which needs nothing else: no
// script, no address. html/template finds methods by their names, which would keep
// every exported method in the program.

import (
	_ "embed"
	"fmt"
	"html"
	"strings"

	"github.com/retrysh/retry/engine/history"
)

//go:embed report.html
var page string

// html prints the report.
func (r *Report) html() {
	var sentences, cards, warnings, header, rows strings.Builder
	for _, sentence := range r.sentences() {
		fmt.Fprintf(&sentences, "<p>%s</p>\n", html.EscapeString(sentence))
	}
	for _, card := range []struct {
		n    int
		name string
	}{
		{r.Runs, "runs"}, {r.FirstAttempt, "at attempt 1"}, {r.Recovered, "recovered"}, {r.GaveUp, "gave up"},
		{r.Retried, "retried"},
	} {
		fmt.Fprintf(&cards, "<div class=\"card\"><b>%d</b><span>%s</span></div>\n", card.n, card.name)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&warnings, "<p class=\"warning\">%s</p>\n", html.EscapeString(describe(w)))
	}
	for _, cell := range r.header() {
		fmt.Fprintf(&header, "<th>%s</th>", cell)
	}
	for _, g := range r.Groups {
		fmt.Fprintf(&rows, "<tr><td><bdi>%s</bdi></td><td><span class=\"class %s\">%[2]s</span></td>",
			html.EscapeString(r.named(g)), strings.ReplaceAll(g.Class, " ", "-"))
		for _, cell := range cells(figures(), g) {
			fmt.Fprintf(&rows, "<td>%s</td>", cell)
		}
		fmt.Fprintf(&rows, "<td>%s</td></tr>\n", drawing(g))
	}
	_, _ = strings.NewReplacer(
		"{sentences}", sentences.String(), "{cards}", cards.String(), "{warnings}", warnings.String(),
		"{header}", header.String(), "{rows}", rows.String(),
	).WriteString(&r.Call.Out, page)
}

// drawing is the spark line of a group as bars.
func drawing(g *history.Group) string {
	const step, width, height = 6, 5, 22
	var b strings.Builder
	fmt.Fprintf(&b, `<svg width="%d" height="%d" role="img" aria-label="%s">`, step*len(g.Spark), height, spark(g))
	for i, share := range g.Spark {
		class, tall := "gap", 1.0
		if share != nil {
			class, tall = "fill", 2+*share*(height-2)
			if *share == 0 {
				class = "base"
			}
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%.1f" width="%d" height="%.1f"/>`, class, i*step, height-tall,
			width, tall)
	}
	return b.String() + "</svg>"
}
