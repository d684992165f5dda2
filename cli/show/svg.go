package show

// This file draws a simulation as one SVG file, which a browser opens: a panel of
// load over time for each herd, and one of what has finished.

import (
	"fmt"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/simulate"
)

// All lengths are in pixels.
const (
	svgWidth  = 900
	svgMargin = 20
	svgLabels = 64
	svgHead   = 88
	svgGap    = 46
	svgLoad   = 96
	svgDone   = 200
	svgPlot   = svgWidth - svgMargin - svgLabels
	svgBars   = 400
)

// shades can be distinguished with any colour vision (Okabe and Ito,
// "Color Universal Design", 2008).
var shades = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b"}

func shade(i int) string { return shades[i%len(shades)] }

// picture is an SVG file under way; its time goes from 0 at the left to end.
type picture struct {
	strings.Builder
	end time.Duration
	y   float64 // the top of the next panel
}

// drawOutage returns the file.
func drawOutage(herds []simulate.Herd) []byte {
	p := &picture{end: max(endOf(herds), tenth), y: svgHead}
	height := svgHead + len(herds)*(svgLoad+svgGap) + svgDone + svgGap
	o := herds[0].Outage
	heading := fmt.Sprintf("%d clients of a server that is down for %s, then serves %s calls per second", o.Clients,
		message.Duration(o.Down), number(o.Capacity))
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="system-ui, sans-serif" font-size="12" fill="#222">`, svgWidth, height)
	fmt.Fprintf(p, "\n<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", heading)
	p.text(svgMargin, 30, `font-size="16" font-weight="600"`, heading)
	p.text(svgMargin, 50, `fill="#666"`,
		"Calls per second. The dashed line is the capacity, grey is the outage. Higher values are cut off.")
	width, bars := fit(p.end, svgBars)
	all, top := loads(herds, width, bars)
	for i := range herds {
		p.loadPanel(&herds[i], all[i], top, width, shade(i))
	}
	p.donePanel(herds)
	p.WriteString("</svg>\n")
	return []byte(p.String())
}

// loadPanel draws the calls a second of one herd.
func (p *picture) loadPanel(h *simulate.Herd, load []float64, top float64, width time.Duration, colour string) {
	low := p.y + svgLoad
	up := func(calls float64) float64 { return low - min(calls/top, 1)*svgLoad }
	p.frame(h.Outage.Down, svgLoad)
	p.text(svgLabels, p.y-6, fmt.Sprintf(`font-weight="600" fill="%s"`, colour), h.Name)
	p.text(svgWidth-svgMargin, p.y-6, `text-anchor="end" fill="#666"`,
		fmt.Sprintf("%s · peaks of %d/s and %d/s · %s calls each",
			fates(h), h.PeakDown, h.PeakBack, number(h.CallsEach)))
	path := p.staircase(low, width, load, up)
	fmt.Fprintf(p, "<path d=\"%sV%.1fZ\" fill=\"%s\"/>\n", path, low, colour)
	fmt.Fprintf(p, "<path d=\"M%d %.1fH%d\" stroke=\"#222\" stroke-dasharray=\"5 4\" fill=\"none\"/>\n", svgLabels,
		up(h.Outage.Capacity), svgWidth-svgMargin)
	p.text(svgLabels-6, up(h.Outage.Capacity)+4, `text-anchor="end"`, number(h.Outage.Capacity))
	p.text(svgLabels-6, p.y+8, `text-anchor="end" fill="#666"`, number(top))
	p.y = low + svgGap
}

// donePanel draws the share of each herd that has finished, in at most a step for each pixel.
func (p *picture) donePanel(herds []simulate.Herd) {
	p.frame(herds[0].Outage.Down, svgDone)
	p.text(svgLabels, p.y-6, `font-weight="600"`, "Runs that have finished")
	for share := 0; share <= 100; share += 25 {
		y := p.y + svgDone*(1-float64(share)/100)
		fmt.Fprintf(p, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>\n", svgLabels, y, svgWidth-svgMargin)
		p.text(svgLabels-6, y+4, `text-anchor="end" fill="#666"`, fmt.Sprintf("%d%%", share))
	}
	width := p.end/svgPlot + 1
	for i := range herds {
		path := p.staircase(p.y+svgDone, width, finished(&herds[i], width, svgPlot),
			func(share float64) float64 { return p.y + svgDone*(1-share) })
		fmt.Fprintf(p, "<path d=\"%s\" stroke=\"%s\" stroke-width=\"2\" fill=\"none\"/>\n", path, shade(i))
	}
	if len(herds) > 1 {
		fmt.Fprintf(p, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" font-weight=\"600\">", svgWidth-svgMargin-14,
			p.y-6)
		for i, h := range herds {
			fmt.Fprintf(p, "<tspan dx=\"14\" fill=\"%s\">%s</tspan>", shade(i), escaped(h.Name))
		}
		p.WriteString("</text>\n")
	}
	p.y += svgDone + svgGap
}

// staircase is a path from the left at low, with a step of this width for each value.
func (p *picture) staircase(low float64, width time.Duration, values []float64, up func(float64) float64) string {
	var path strings.Builder
	fmt.Fprintf(&path, "M%.1f %.1f", p.x(0), low)
	for i, value := range values {
		if i == 0 || value != values[i-1] {
			fmt.Fprintf(&path, "V%.1f", up(value))
		}
		if i+1 == len(values) || value != values[i+1] {
			fmt.Fprintf(&path, "H%.1f", p.x(time.Duration(i+1)*width))
		}
	}
	return path.String()
}

// x is where a time is.
func (p *picture) x(at time.Duration) float64 {
	return svgLabels + min(float64(at)/float64(p.end), 1)*svgPlot
}

// frame draws the outage and the times below a panel.
func (p *picture) frame(down time.Duration, height float64) {
	fmt.Fprintf(p, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#eee\"/>\n", svgLabels, p.y,
		p.x(down)-svgLabels, height)
	fmt.Fprintf(p, "<path d=\"M%d %.1fH%d\" stroke=\"#999\"/>\n", svgLabels, p.y+height, svgWidth-svgMargin)
	step, _ := fit(p.end, 10)
	for at := time.Duration(0); at <= p.end; at += step {
		p.text(p.x(at), p.y+height+15, `text-anchor="middle" fill="#666"`, message.Limit(at))
	}
}

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// escaped is a text for XML, which allows no control characters.
func escaped(text string) string { return markup.Replace(message.Printable(text)) }

// text writes a line, from or around a point on its baseline.
func (p *picture) text(x, y float64, attributes, line string) {
	fmt.Fprintf(p, "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, attributes, escaped(line))
}
