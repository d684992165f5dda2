// Package linematch tries patterns on each line of a stream while it goes by.
//
// A Matcher reads what a command writes, in chunks of any size, and knows at
// the end which patterns some line matched. What happens to a chunk, each step
// in a file of its own:
//
//	escape.go   terminal escape sequences are removed
//	matcher.go  what is left goes through one automaton of all patterns
//	run.go      the inner loops of the automaton, whose
//	dfa.go      states are made when they are needed, from
//	nfa.go      the programs of package regexp/syntax
//
// Memory is bounded whatever the output: 64 KiB of a block without its escape
// sequences, and at most about 2.5 MiB for an automaton of usual patterns, which
// takes 150 KiB as a rule. No line is held. There may be as many automata as
// patterns, where their states thrash.
//
// The package reads no clock and no system; it will never say what a match
// means.
package linematch

import "unicode/utf8"

// limits are the sizes at which the matcher changes its ways. Only tests have
// others than usual.
type limits struct {
	// block is how much text goes through everything at a time, so that it is
	// still in the cache for the second look.
	block int
	// lane is the shortest text that is run in several lanes.
	lane int
	// table is how many transitions an automaton keeps, at most tableSize.
	table int
}

var usual = limits{block: 64 << 10, lane: 1 << 10, table: tableSize}

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
// long the line is: all patterns run over the text as one automaton, whose
// state is all that is kept of a line.
//
// A Matcher is not safe for concurrent use.
type Matcher struct {
	limits   limits
	patterns []*Pattern
	seen     []bool
	left     int // patterns not seen

	stripper stripper
	text     []byte // what strip left of a block
	// rune holds the first bytes of a rune of which more may come.
	rune []byte
	// open reports whether text has come since the last line's end.
	open bool
	all  []*dfa // nil before the first text
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
	if m.open {
		m.run(append(m.rune, '\n'))
	}
}

// feed takes text without escape sequences.
func (m *Matcher) feed(text []byte) {
	if len(text) == 0 {
		return
	}
	last := text[len(text)-1]
	m.open = last != '\n' && last != '\r'
	for len(m.rune) > 0 && len(text) > 0 {
		m.rune = append(m.rune, text[0])
		text = text[1:]
		if n := fullRunes(m.rune); n > 0 {
			m.run(m.rune[:n])
			m.rune = append(m.rune[:0], m.rune[n:]...)
		}
	}
	n := fullRunes(text)
	m.run(text[:n])
	m.rune = append(m.rune, text[n:]...)
}

// run takes text that ends between two runes through the automata.
func (m *Matcher) run(text []byte) {
	if m.all == nil {
		alive := make([]bool, len(m.patterns))
		for i := range alive {
			alive[i] = true
		}
		m.all = []*dfa{newDFA(newNFA(m.patterns), m.limits, alive, m.see)}
	}
	for _, d := range m.all {
		d.run(text)
	}
	m.divide()
}

func (m *Matcher) see(pattern int) {
	m.seen[pattern] = true
	m.left--
}

// divide replaces each automaton that asks for it by two for half of its
// patterns each, and drops those that have no pattern left.
func (m *Matcher) divide() {
	for i := 0; i < len(m.all); i++ {
		switch d := m.all[i]; {
		case d.split:
			m.all = append(m.all, d.halve())
		case d.live == 0:
			m.all = append(m.all[:i], m.all[i+1:]...)
			i--
		}
	}
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
