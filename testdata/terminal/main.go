// Command terminal draws what a terminal shows of a few commands, as a picture
// for the README:
//
//	go build -o /tmp/bin/retry . && PATH=/tmp/bin:$PATH go run ./testdata/terminal >docs/terminal.svg
//
// The commands are really run, each in a pseudo-terminal of script(1); nothing
// is drawn that was not printed. It needs Linux.
package main

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// commands are what is run and shown, one after the other.
var commands = []string{
	`retry --base 200ms --seed 7 -- sh -c 'test $RETRY_ATTEMPT = 3 && echo hello || exit 7'`,
	`retry --classify smart -- curl -sS nosuch://localhost/`,
	`retry --wait-for file:///etc/hosts -- echo ready`,
}

const columns = 92

// cell is one character and its colour (SGR, 0 for the terminal's own).
type cell struct {
	r     rune
	color int
}

// screen understands as much of ECMA-48 as is printed here: colours, the return
// to the first column, erasing to the right and below, and the cursor's place.
type screen struct {
	rows     [][]cell
	row, col int
	color    int
	saved    [2]int
}

func (s *screen) put(r rune) {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	for len(s.rows[s.row]) <= s.col {
		s.rows[s.row] = append(s.rows[s.row], cell{r: ' '})
	}
	s.rows[s.row][s.col] = cell{r, s.color}
	s.col++
}

// erase clears from the cursor to the end of its row, and below.
func (s *screen) erase(below bool) {
	if s.row < len(s.rows) {
		s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
		if below {
			s.rows = s.rows[:s.row+1]
		}
	}
}

func (s *screen) write(text string) {
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; r {
		case '\r':
			s.col = 0
		case '\n':
			s.row, s.col = s.row+1, 0
		case '\x1b':
			i += s.escape(runes[i+1:])
		default:
			s.put(r)
		}
	}
}

// escape obeys one sequence and returns its length.
func (s *screen) escape(rest []rune) int {
	switch rest[0] {
	case '7':
		s.saved = [2]int{s.row, s.col}
		return 1
	case '8':
		s.row, s.col = s.saved[0], s.saved[1]
		return 1
	}
	end := 1
	for rest[end] < '@' {
		end++
	}
	switch rest[end] {
	case 'K':
		s.erase(false)
	case 'J':
		s.erase(true)
	case 'm':
		for _, number := range strings.Split(string(rest[1:end]), ";") {
			s.color, _ = strconv.Atoi(number)
		}
	}
	return end + 1
}

// colors are those of the lines that retry writes.
var colors = map[int]string{0: "#d8dee9", 2: "#7b8494", 31: "#e06c75", 32: "#98c379", 33: "#e5c07b"}

func main() {
	var s screen
	for _, command := range commands {
		s.write("\x1b[2m$\x1b[0m " + command + "\r\n")
		shown := exec.Command("script", "-qec", "stty cols "+strconv.Itoa(columns)+"; "+command, "/dev/null")
		shown.Env = append(os.Environ(), "TERM=xterm-256color")
		output, err := shown.Output()
		if len(output) == 0 && err != nil {
			fmt.Fprintln(os.Stderr, "script:", err)
			os.Exit(1)
		}
		s.write(string(output))
	}
	os.Stdout.Write(s.svg())
}

func (s *screen) svg() []byte {
	const width, height, left, top = 8.4, 19, 16, 44
	var b bytes.Buffer
	w, h := columns*width+2*left, len(s.rows)*height+top+12
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" `+
		`font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%d" rx="8" fill="#1f2430"/>`+"\n", w, h)
	for i, color := range []string{"#e06c75", "#e5c07b", "#98c379"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="18" r="6" fill="%s"/>`+"\n", left+6+20*i, color)
	}
	for y, row := range s.rows {
		for x := 0; x < len(row); {
			end := x
			for end < len(row) && row[end].color == row[x].color {
				end++
			}
			var text strings.Builder
			for _, c := range row[x:end] {
				text.WriteRune(c.r)
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s" xml:space="preserve">%s</text>`+"\n",
				left+float64(x)*width, top+y*height, colors[row[x].color], html.EscapeString(text.String()))
			x = end
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
