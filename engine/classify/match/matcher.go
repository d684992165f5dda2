// This file's subject is the matcher: patterns tried on each line of a stream
// as it goes by, in bounded memory.

package match

import (
	"bytes"
	"unicode/utf8"
)

// limits are the sizes at which the matcher changes its ways. Only tests have
// others than usual.
type limits struct {
	// block is how much text goes through everything at a time, so that it is
	// still in the cache for the second look.
	block int
	// line is the longest line that is held until it ends.
	line int
	// sift is how much text is looked at before a literal that stands in too
	// many lines is given up.
	sift int64
	// lane is the shortest text that is run in several lanes.
	lane int
	// table is how many transitions an automaton keeps, at most tableSize.
	table int
}

var usual = limits{block: 64 << 10, line: 64 << 10, sift: 128 << 10, lane: 1 << 10, table: tableSize}

// Matcher tries patterns on each line of one stream. It is an io.Writer that
// may be given the stream in chunks of any size, and Close says that the
// stream has ended.
//
// A line ends at a line feed, a carriage return, or both in this order; what
// follows the last end is a line only if it is not empty, so that an empty
// stream has no line and no pattern matches it (as with grep). Terminal escape
// sequences are removed first. Bytes that are not UTF-8 match as U+FFFD would,
// one by one.
//
// What matches is what package regexp would match in the whole line, however
// long the line is. Most patterns contain a literal, and are tried only on
// lines that hold it; the others, and those whose literal stands in too many
// lines, run on every line as one automaton. A line of more than 64 KiB is not
// held: it goes through the automata of all patterns as it comes.
//
// A Matcher is not safe for concurrent use.
type Matcher struct {
	limits   limits
	patterns []*Pattern
	seen     []bool
	left     int // patterns not seen
	started  bool

	stripper stripper
	text     []byte // what strip left of a block
	// line holds the line that has not ended. Where long is set that line is
	// longer than limits.line, the automata have it, and line holds what has come
	// of its last rune.
	line    []byte
	long    bool
	afterCR bool

	every  []*dfa  // run on every line
	sifted []*dfa  // run on lines that have a literal of theirs
	filter *filter // nil where no pattern is sifted
	sieve  sieve
}

// New returns a Matcher for the patterns, which Seen counts from 0.
// Without a pattern, Write does nothing.
func New(patterns []*Pattern) *Matcher {
	return &Matcher{limits: usual, patterns: patterns, seen: make([]bool, len(patterns)), left: len(patterns)}
}

// Seen reports whether pattern i has matched a line. Before Close it accounts
// for every line whose end has been written; the last line, if it has no end,
// counts after Close.
func (m *Matcher) Seen(i int) bool { return m.seen[i] }

// Write matches the lines that p ends. It takes all of p, never fails, and
// neither changes nor keeps p.
func (m *Matcher) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && m.left > 0 {
		b := p[:min(len(p), m.limits.block)]
		p = p[len(b):]
		if !m.stripper.idle(b) {
			m.text = m.stripper.strip(m.text[:0], b)
			b = m.text
		}
		m.feed(b)
	}
	return n, nil
}

// Close ends the stream: what was written after the last line's end, if
// anything, is a line. Write must not follow.
func (m *Matcher) Close() {
	if m.left == 0 {
		return
	}
	m.feed(m.stripper.flush(nil))
	switch {
	case m.long:
		m.stream([]byte{'\n'})
	case len(m.line) > 0:
		m.lines(append(m.line, '\n'))
	}
	m.line, m.long = nil, false
}

// feed takes text without escape sequences.
func (m *Matcher) feed(text []byte) {
	for len(text) > 0 {
		if m.afterCR {
			m.afterCR = false
			if text[0] == '\n' {
				text = text[1:]
				continue
			}
		}
		var n int
		switch {
		case m.long:
			n = m.continueLong(text)
		case len(m.line) > 0:
			n = m.continueLine(text)
		default:
			if n = lastEnd(text); n > 0 {
				m.lines(text[:n])
			} else {
				n = len(text)
				m.hold(text)
			}
		}
		if n == 0 {
			return
		}
		m.afterCR = text[n-1] == '\r'
		text = text[n:]
	}
}

// continueLine adds text to the line that has not ended, up to its end, and
// returns how much it took.
func (m *Matcher) continueLine(text []byte) int {
	n := firstEnd(text)
	if n == 0 {
		m.hold(text)
		return len(text)
	}
	m.line = append(m.line, text[:n]...)
	m.lines(m.line)
	m.line = m.line[:0]
	return n
}

// hold keeps text that has no line's end, or gives up holding the line.
func (m *Matcher) hold(text []byte) {
	m.line = append(m.line, text...)
	if len(m.line) <= m.limits.line {
		return
	}
	m.start()
	m.wakeAll()
	m.long = true
	for _, d := range m.every {
		d.toStart()
	}
	for _, d := range m.sifted {
		d.toStart()
	}
	line := m.line
	m.line = nil
	m.stream(line)
}

// continueLong streams a long line up to its end, and returns how much it took.
func (m *Matcher) continueLong(text []byte) int {
	n := firstEnd(text)
	if n > 0 {
		m.stream(text[:n])
		m.long = false
		return n
	}
	m.stream(text)
	return len(text)
}

// stream runs all automata over a part of a long line, but for a rune at its
// end of which more may come.
func (m *Matcher) stream(text []byte) {
	for len(m.line) > 0 && len(text) > 0 {
		m.line = append(m.line, text[0])
		text = text[1:]
		if n := fullRunes(m.line); n > 0 {
			m.runAll(m.line[:n])
			m.line = append(m.line[:0], m.line[n:]...)
		}
	}
	n := fullRunes(text)
	m.runAll(text[:n])
	m.line = append(m.line, text[n:]...)
}

func (m *Matcher) runAll(text []byte) {
	for _, d := range m.every {
		d.run(text)
	}
	for _, d := range m.sifted {
		d.run(text)
	}
	m.divide()
}

// lines matches whole lines.
func (m *Matcher) lines(text []byte) {
	m.start()
	for _, d := range m.every {
		d.runLines(text)
	}
	if m.filter != nil {
		m.sift(text)
	}
	m.divide()
}

// start sorts the patterns into those with a literal and those without.
func (m *Matcher) start() {
	if m.started {
		return
	}
	m.started = true
	var with, without []int
	for i, p := range m.patterns {
		if len(p.literals) > 0 {
			with = append(with, i)
		} else {
			without = append(without, i)
		}
	}
	if len(with) > 0 {
		if m.filter = newFilter(m.patterns, with, lessons{}); m.filter == nil {
			without = append(without, with...)
			with = nil
		}
	}
	if len(without) > 0 {
		m.every = append(m.every, m.newDFA(without))
	}
	m.sieve.which, m.sieve.cost = with, make([]int64, len(m.patterns))
}

func (m *Matcher) newDFA(which []int) *dfa {
	alive := make([]bool, len(m.patterns))
	for _, i := range which {
		alive[i] = !m.seen[i]
	}
	return newDFA(newNFA(m.patterns, which), m.limits, alive, m.see)
}

func (m *Matcher) see(pattern int) {
	m.seen[pattern] = true
	m.left--
}

// divide replaces each automaton that asks for it by two for half of its
// patterns each, and drops those that have no pattern left.
func (m *Matcher) divide() {
	m.every = divide(m.every)
	m.sifted = divide(m.sifted)
}

func divide(all []*dfa) []*dfa {
	for i := 0; i < len(all); i++ {
		switch d := all[i]; {
		case d.split:
			all = append(all, d.halve())
		case d.live == 0:
			all = append(all[:i], all[i+1:]...)
			i--
		}
	}
	return all
}

// firstEnd returns how many bytes the first line of text has with its end, 0
// where it has no end.
func firstEnd(text []byte) int {
	n := bytes.IndexByte(text, '\n') + 1
	head := text
	if n > 0 {
		head = text[:n]
	}
	if i := bytes.IndexByte(head, '\r'); i >= 0 {
		return i + 1
	}
	return n
}

// lastEnd returns how many bytes of text are in lines that end in it.
func lastEnd(text []byte) int {
	for i := len(text); i > 0; i-- {
		if b := text[i-1]; b == '\n' || b == '\r' {
			return i
		}
	}
	return 0
}

// fullRunes returns how many bytes of text are whole runes, or none; what
// follows them may be the beginning of one.
func fullRunes(text []byte) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax+1; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}
