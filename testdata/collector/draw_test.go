package collector

import (
	"bytes"
	"fmt"
	"html"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// What a picture is made of, in pixels.
const (
	left, width, right = 330, 520, 90
	top, row           = 34, 30
)

// draw draws the spans of a trace as a waterfall, the first of them the run.
func draw(spans []ptrace.Span) []byte {
	var b bytes.Buffer
	run := spans[0]
	start, end := run.StartTimestamp(), run.EndTimestamp()
	x := func(t uint64) float64 { return left + width*float64(t-uint64(start))/float64(end-start) }
	ms := func(from, to uint64) string { return fmt.Sprintf("%d ms", (to-from+500_000)/1_000_000) }
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="monospace" `+
		`font-size="13">`+"\n", left+width+right, top+row*len(spans)+24)
	fmt.Fprintf(&b, `<title>A trace: %s</title><rect width="100%%" height="100%%" fill="#fff"/>`+"\n",
		html.EscapeString(run.Name()))
	for i, span := range spans {
		y := top + row*i
		from, to := x(uint64(span.StartTimestamp())), x(uint64(span.EndTimestamp()))
		name, colour := span.Name(), "#4078c0"
		if number, ok := span.Attributes().Get("retry.attempt"); ok {
			name = "  " + name + " attempt " + number.AsString()
			if copy, ok := span.Attributes().Get("retry.copy"); ok {
				name += " copy " + copy.AsString()
			}
		}
		if kind, ok := span.Attributes().Get("error.type"); ok {
			name, colour = name+" (error.type "+kind.AsString()+")", "#c0403a"
		}
		fmt.Fprintf(&b, `<text x="8" y="%d" fill="#222" xml:space="preserve">%s</text>`+"\n", y+14,
			html.EscapeString(name))
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="18" rx="2" fill="%s"/><text x="%.1f" y="%d" `+
			`fill="#222">%s</text>`+"\n",
			from, y, max(to-from, 2), colour, to+6, y+14,
			ms(uint64(span.StartTimestamp()), uint64(span.EndTimestamp())))
		for _, event := range span.Events().All() {
			at := x(uint64(event.Timestamp()))
			fmt.Fprintf(&b, `<path d="M%.1f %dv%d" stroke="#222" stroke-dasharray="3 3"/><text x="%.1f" y="%d" `+
				`fill="#222">%s</text>`+"\n",
				at, y-8, row*len(spans)+8, at, y-12, html.EscapeString(event.Name()))
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
