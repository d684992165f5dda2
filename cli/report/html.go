package report

// This file prints the report as one HTML file, which needs nothing else: no
// script, no address. html/template finds methods by their names, which would keep
// every exported method in the program.

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/retrysh/retry/engine/history"
)

const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --paper: #ffffff; --card: #f6f8fa; --line: #d1d9e0; --good: #1a7f37; --warn: #9a6700; --bad: #cf222e; --none: #d1d9e0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --paper: #0d1117; --card: #151b23; --line: #3d444d; --good: #3fb950; --warn: #d29922; --bad: #f85149; --none: #3d444d; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1200px; margin: 0 auto; }
h1 { margin: 0; font-size: 1.6rem; }
p { margin: .3rem 0; color: var(--soft); }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.2rem 0; }
.card { flex: 1 1 8rem; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.card b { display: block; font-size: 1.7rem; line-height: 1.2; }
.card span { color: var(--soft); }
.warning { margin: .6rem 0; padding: .5rem .8rem; border-left: 4px solid var(--warn); background: var(--card); color: var(--ink); }
.table { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .8rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
th { background: var(--card); font-weight: 600; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
td:first-child { max-width: 28rem; overflow-wrap: anywhere; white-space: normal; font-family: ui-monospace, monospace; }
.class { padding: .1rem .5rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .85em; }
.steady { color: var(--good); } .flaky { color: var(--warn); } .broken, .failing, .not-retried { color: var(--bad); }
svg { display: block; margin-left: auto; }
.fill { fill: var(--bad); } .base { fill: var(--good); } .gap { fill: var(--none); }
`

// html prints the report.
func (d *document) html(w io.Writer) error {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Retries</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n<h1>Retries</h1>\n")
	for _, sentence := range d.sentences() {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(sentence))
	}
	b.WriteString("<div class=\"cards\">\n")
	for _, card := range []struct {
		n    int
		name string
	}{{d.Runs, "runs"}, {d.FirstAttempt, "at attempt 1"}, {d.Recovered, "recovered"}, {d.GaveUp, "gave up"}, {d.Retried, "retried"}} {
		fmt.Fprintf(&b, "<div class=\"card\"><b>%d</b><span>%s</span></div>\n", card.n, card.name)
	}
	b.WriteString("</div>\n")
	for _, warned := range d.Warnings {
		fmt.Fprintf(&b, "<p class=\"warning\">%s</p>\n", html.EscapeString(says(warned)))
	}
	b.WriteString("<div class=\"table\">\n<table>\n<thead><tr>")
	for _, cell := range append(d.header(), "failed attempts over time") {
		fmt.Fprintf(&b, "<th>%s</th>", cell)
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, g := range d.Groups {
		fmt.Fprintf(&b, "<tr><td><bdi>%s</bdi></td><td><span class=\"class %s\">%[2]s</span></td>", html.EscapeString(d.named(g)), strings.ReplaceAll(g.Class, " ", "-"))
		for _, cell := range cells(g)[1:] {
			fmt.Fprintf(&b, "<td>%s</td>", cell)
		}
		fmt.Fprintf(&b, "<td>%s</td></tr>\n", drawing(g))
	}
	b.WriteString("</tbody>\n</table>\n</div>\n</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
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
