// Pictures draws the diagrams of docs/ as SVG files, into the folder that is
// named:
//
//	go run ./testdata/pictures docs
//
// They hold no script and no address, and follow the reader's light or dark
// colours.
package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pictures FOLDER")
		os.Exit(2)
	}
	for name, draw := range pictures {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(draw()), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

var pictures = map[string]func() string{
	"deciding.svg": deciding,
	"waits.svg":    waits,
	"breaker.svg":  breaker,
	"hedging.svg":  hedging,
}

// canvas collects the elements of one picture. Lengths are in pixels.
type canvas struct{ strings.Builder }

const style = `<style>
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.small { font-size: 12px; fill: #59636e }
.box { fill: #f6f8fa; stroke: #59636e }
.good { fill: #dafbe1; stroke: #1a7f37 }
.bad { fill: #ffebe9; stroke: #cf222e }
.wait { fill: #ddf4ff; stroke: #0969da }
.line { stroke: #59636e; fill: none }
.tip { fill: #59636e }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.small { fill: #9198a1 }
.box { fill: #151b23; stroke: #9198a1 }
.good { fill: #12261e; stroke: #3fb950 }
.bad { fill: #25171c; stroke: #f85149 }
.wait { fill: #121d2f; stroke: #4493f8 }
.line { stroke: #9198a1 }
.tip { fill: #9198a1 }
}
</style>
` +
	`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">` +
	`<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>` + "\n"

// draw returns a picture of the given size with what add draws on it.
func draw(width, height int, title string, add func(*canvas)) string {
	var c canvas
	fmt.Fprintf(&c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" `+
		"role=\"img\">\n<title>%s</title>\n%s", width, height, html.EscapeString(title), style)
	add(&c)
	c.WriteString("</svg>\n")
	return c.String()
}

func (c *canvas) rect(class string, x, y, width, height int) {
	fmt.Fprintf(c, "<rect class=%q x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n", class, x, y, width,
		height)
}

// text writes words; anchor is start, middle or end.
func (c *canvas) text(class, anchor string, x, y int, words string) {
	fmt.Fprintf(c, "<text class=%q text-anchor=%q x=\"%d\" y=\"%d\">%s</text>\n", class, anchor, x, y,
		html.EscapeString(words))
}

// box is a rectangle with words in its middle.
func (c *canvas) box(class string, x, y, width, height int, words string) {
	c.rect(class, x, y, width, height)
	c.text("", "middle", x+width/2, y+height/2+5, words)
}

// arrow follows the points of path, an SVG path.
func (c *canvas) arrow(path string) {
	fmt.Fprintf(c, "<path class=\"line\" marker-end=\"url(#tip)\" d=%q/>\n", path)
}

func (c *canvas) line(path string) { fmt.Fprintf(c, "<path class=\"line\" d=%q/>\n", path) }

// deciding is the table of docs/deciding.md as a flow of questions: the first
// that applies decides.
func deciding() string {
	rows := []struct{ question, class, answer string }{
		{"Did a signal ask the program to end?", "bad", "stop: cancelled"},
		{"Has --deadline passed?", "bad", "stop: deadline"},
		{"Could the command not be started (126, 127)?", "bad", "stop"},
		{"Did it succeed (exit 0, --success-on-exit, patterns)?", "good", "success"},
		{"Does a --stop-on-* rule match?", "bad", "stop: permanent"},
		{"Did the attempt reach --timeout?", "wait", "retry"},
		{"Does an --on-* rule match?", "wait", "retry"},
		{"Was an --on-* rule given?", "bad", "stop: not retryable"},
		{"What does --classify say? (any: retry)", "wait", "retry or stop"},
	}
	const step, width = 52, 400
	return draw(660, step*len(rows)+20, "How an attempt is judged: the first row that applies decides",
		func(c *canvas) {
			for i, r := range rows {
				y := 10 + i*step
				c.box("box", 20, y, width, 34, r.question)
				c.box(r.class, 500, y, 140, 34, r.answer)
				c.arrow(fmt.Sprintf("M%d %d H498", 20+width, y+17))
				if i == len(rows)-1 {
					break
				}
				c.text("small", "start", 430, y+12, "yes")
				c.arrow(fmt.Sprintf("M%d %d V%d", 20+width/2, y+34, y+step-2))
				c.text("small", "start", 28+width/2, y+47, "no")
			}
		})
}

// waits is a line of time: five attempts with exponential backoff from 1 s, and
// an outage of the first 5 s.
func waits() string {
	const second, left, axis = 42, 20, 90
	at := []int{0, 1, 3, 7, 15}
	return draw(left*2+second*16, 150, "Attempts with exponential backoff and an outage of 5 seconds", func(c *canvas) {
		c.rect("bad", left, 30, 5*second, 40)
		c.text("", "middle", left+5*second/2, 55, "outage of 5s")
		c.line(fmt.Sprintf("M%d %d H%d", left, axis, left+16*second))
		for i, s := range at {
			x, class := left+s*second, "bad"
			if s >= 5 {
				class = "good"
			}
			if i > 0 {
				c.text("small", "middle", left+(at[i-1]+s)*second/2, axis-6, fmt.Sprintf("%ds", s-at[i-1]))
			}
			if at[max(i-1, 0)] >= 5 {
				class = "box" // not needed: the attempt before succeeded
			}
			fmt.Fprintf(c, "<circle class=%q cx=\"%d\" cy=\"%d\" r=\"8\"/>\n", class, x, axis)
			c.text("small", "middle", x, axis+26, fmt.Sprintf("%ds", s))
		}
		c.text("small", "start", left, axis+50,
			"retry -n 5 --base 1s --jitter none: attempts 1 to 3 fail, attempt 4 succeeds, attempt 5 is not made")
	})
}

// breaker is the states of a circuit breaker and what changes them.
func breaker() string {
	return draw(700, 190, "The three states of a circuit breaker", func(c *canvas) {
		c.box("good", 20, 60, 140, 50, "closed")
		c.box("bad", 280, 60, 140, 50, "open")
		c.box("wait", 540, 60, 140, 50, "half-open")
		c.arrow("M160 85 H278")
		c.text("small", "middle", 219, 55, "failures reach")
		c.text("small", "middle", 219, 72, "the threshold")
		c.arrow("M420 75 H538")
		c.text("small", "middle", 479, 55, "the time open=")
		c.text("small", "middle", 479, 70, "has passed")
		c.arrow("M540 97 H422")
		c.text("small", "middle", 481, 116, "a probe fails")
		c.arrow("M610 110 V150 H90 V112")
		c.text("small", "middle", 350, 144, "all probes succeed")
		c.text("small", "start", 20, 35, "attempts run")
		c.text("small", "start", 280, 35, "attempts are refused")
		c.text("small", "start", 540, 35, "probes= attempts run")
		c.text("small", "start", 20, 178, "retry --key NAME --breaker 50%")
	})
}

// hedging is one slow attempt with and without a second copy.
func hedging() string {
	const second, left = 100, 120
	return draw(660, 200, "A slow attempt without and with a second copy", func(c *canvas) {
		c.text("", "start", 10, 42, "without")
		c.rect("box", left, 25, 5*second, 26)
		c.text("small", "start", left+8, 43, "the only copy ends after 5s")
		c.text("", "start", 10, 97, "--hedge 1s")
		c.rect("bad", left, 80, 2*second, 26)
		c.text("small", "start", left+8, 98, "copy 0 is ended after 2s")
		c.rect("good", left+second, 114, second, 26)
		c.text("small", "start", left+second+8, 132, "copy 1 wins")
		c.line(fmt.Sprintf("M%d 155 H%d", left, left+5*second))
		for s := range 6 {
			c.line(fmt.Sprintf("M%d 155 v6", left+s*second))
			c.text("small", "middle", left+s*second, 176, fmt.Sprintf("%ds", s))
		}
	})
}
