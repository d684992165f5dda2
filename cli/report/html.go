package report

// This file prints the report as one HTML file, which needs nothing else: no
// script, no address. html/template finds methods by their names, which would keep
// every exported method in the program.

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"strings"

	"github.com/retrysh/retry/engine/history"
)

//go:embed report.html
var page string

// html prints the report.
func (d *document) html(w *bytes.Buffer) {
	var sentences, cards, warnings, header, rows strings.Builder
	for _, sentence := range d.sentences() {
		fmt.Fprintf(&sentences, "<p>%s</p>\n", html.EscapeString(sentence))
	}
	for _, card := range []struct {
		n    int
		name string
	}{{d.Runs, "runs"}, {d.FirstAttempt, "at attempt 1"}, {d.Recovered, "recovered"}, {d.GaveUp, "gave up"}, {d.Retried, "retried"}} {
		fmt.Fprintf(&cards, "<div class=\"card\"><b>%d</b><span>%s</span></div>\n", card.n, card.name)
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(&warnings, "<p class=\"warning\">%s</p>\n", html.EscapeString(describe(w)))
	}
	for _, cell := range d.header() {
		fmt.Fprintf(&header, "<th>%s</th>", cell)
	}
	for _, g := range d.Groups {
		fmt.Fprintf(&rows, "<tr><td><bdi>%s</bdi></td><td><span class=\"class %s\">%[2]s</span></td>", html.EscapeString(d.named(g)), strings.ReplaceAll(g.Class, " ", "-"))
		for _, cell := range cells(g)[1:] {
			fmt.Fprintf(&rows, "<td>%s</td>", cell)
		}
		fmt.Fprintf(&rows, "<td>%s</td></tr>\n", drawing(g))
	}
	_, _ = strings.NewReplacer("{sentences}", sentences.String(), "{cards}", cards.String(), "{warnings}", warnings.String(), "{header}", header.String(),
		"{rows}", rows.String()).WriteString(w, page)
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
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%.1f" width="%d" height="%.1f"/>`, class, i*step, height-tall, width, tall)
	}
	return b.String() + "</svg>"
}
