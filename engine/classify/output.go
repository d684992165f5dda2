package classify

// This file keeps the tails of an attempt's output, and makes lines of them: without
// terminal escape sequences, with \r as a line's end too (progress bars).

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/text"
)

// output is the text of both streams in the order in which their lines came. Of lines that
// came at the same time, those of standard output are first: tools write their last word to
// standard error, and a later line is nearer to the end of the failure.
type output struct {
	text   string // as it was
	lower  string // the same in lower case (ASCII), byte for byte
	masked string // the text without what stands in addresses and paths
	// turns are where the stream changes, standard error first.
	turns []int
	// kinds are the kinds of the lines that were looked at, by where they begin.
	kinds map[int]lineKind
	// looked counts the bytes that were held against the patterns of shapes.
	looked int
	stamps *stamps
}

func newOutput(stdout, stderr []byte, order []Arrival) *output {
	m := merger{text: make([]byte, 0, len(stdout)+len(stderr)+1), left: [2][]byte{stdout, stderr}}
	total := Arrival{}
	for _, a := range order {
		total.Stdout += a.Stdout
		total.Stderr += a.Stderr
	}
	m.pass(0, len(stdout)-total.Stdout)
	m.pass(1, len(stderr)-total.Stderr)
	for _, a := range order {
		// Of a tail that has lost its beginning the first arrivals are longer than what is there.
		total.Stdout -= a.Stdout
		m.pass(0, len(m.left[0])-total.Stdout)
		total.Stderr -= a.Stderr
		m.pass(1, len(m.left[1])-total.Stderr)
	}
	all := string(m.text)
	return &output{
		text: all, lower: string(text.Lower(m.text)), masked: masked(all), turns: m.turns,
		kinds: map[int]lineKind{}, stamps: findStamps(all),
	}
}

// merger puts the whole lines of two streams behind one another.
type merger struct {
	text   []byte
	turns  []int
	stream int
	left   [2][]byte // what has not come yet
	begun  [2][]byte // lines that are not whole yet
}

// pass takes the next n bytes of a stream.
func (m *merger) pass(stream, n int) {
	if n = min(n, len(m.left[stream])); n <= 0 {
		return
	}
	came := append(m.begun[stream], m.left[stream][:n]...)
	m.left[stream] = m.left[stream][n:]
	whole := len(came)
	if len(m.left[stream]) > 0 {
		whole = bytes.LastIndexAny(came, "\r\n") + 1
	}
	m.write(stream, came[:whole])
	m.begun[stream] = came[whole:]
}

// write appends lines of a stream.
func (m *merger) write(stream int, lines []byte) {
	if len(lines) == 0 {
		return
	}
	if stream != m.stream {
		if n := len(m.text); n > 0 && m.text[n-1] != '\n' {
			m.text = append(m.text, '\n')
		}
		m.turns = append(m.turns, len(m.text))
		m.stream = stream
	}
	start := len(m.text)
	m.text = linematch.Visible(m.text, lines)
	for i, c := range m.text[start:] {
		if c == '\r' {
			m.text[start+i] = '\n'
		}
	}
}

// stream names the stream that position i is in.
func (o *output) stream(i int) string {
	if turns, _ := slices.BinarySearch(o.turns, i+1); turns%2 == 1 {
		return "stderr"
	}
	return "stdout"
}

// line returns where the line around position i begins and ends.
func (o *output) line(i int) (start, end int) {
	start = strings.LastIndexByte(o.text[:i], '\n') + 1
	end = strings.IndexByte(o.text[i:], '\n')
	if end < 0 {
		return start, len(o.text)
	}
	return start, i + end
}

// maxLine is the longest line that is matched as a whole. A longer one (a JSON
// answer without line ends) is matched in pieces of that length, which overlap
// by half; where it is cut, the cut counts as a beginning or an end.
const maxLine = 2048

// around returns the part of the line to match for a literal at position i.
func (o *output) around(i int) (start, end int) {
	const step = maxLine / 2
	low := max(0, i-step) / step * step
	high := min(len(o.text), (i/step+2)*step)
	start = low + strings.LastIndexByte(o.text[low:i], '\n') + 1
	if n := strings.IndexByte(o.text[i:high], '\n'); n >= 0 {
		return start, i + n
	}
	return start, high
}

// TailSize is how many bytes a Tail keeps: error messages stand at the end, and 64 KiB
// holds some 800 lines.
const TailSize = 64 << 10

// Tail is an io.Writer that keeps the last bytes written to it. It is not safe for
// concurrent use.
type Tail struct {
	size int // TailSize if it is 0
	// kept is cut to its end before it would exceed twice the size.
	kept []byte
}

// Write takes all of p; it never fails and never changes or keeps p.
func (t *Tail) Write(p []byte) (int, error) {
	n, most := len(p), t.most()
	p = p[max(0, n-most):]
	if len(t.kept)+len(p) > 2*most {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-most:]...)
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// most is the size, and one byte before that, which says whether a line begins there.
func (t *Tail) most() int { return cmp.Or(t.size, TailSize) + 1 }

// Bytes returns a copy of the last bytes in the order in which they were
// written. If older ones were dropped, the copy begins with a whole line, unless
// no line begins in what was kept.
func (t *Tail) Bytes() []byte {
	b := t.kept
	if cut := len(b) - t.most(); cut >= 0 {
		b = b[cut:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 && i+1 < len(b) {
			b = b[i+1:]
		} else {
			b = b[1:]
		}
	}
	return append([]byte{}, b...)
}
