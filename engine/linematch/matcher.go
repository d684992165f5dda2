// Package linematch tries patterns on each line of a stream as it is written.
//
//	escape.go   removes terminal escape sequences
//	matcher.go  runs the rest through one automaton of all patterns
//	run.go      has its inner loops
//	dfa.go      makes its states when they are needed, from
//	nfa.go      the programs of package regexp/syntax
//
// Memory is bounded whatever the output, and no line is held: 64 KiB for a block without
// escape sequences, and for the automaton of usual patterns about 150 KiB, at most about 4 MiB.
//
// The package is pure, and does not interpret a match.
package linematch

import "unicode/utf8"

// limits are sizes. Only tests have others than usual.
type limits struct {
	block int // of text that is stripped and run at a time, to be in the cache for both
	lane  int // of the shortest text that is run in several lanes
	table int // transitions of an automaton, at most tableSize
}

var usual = limits{block: 64 << 10, lane: 1 << 10, table: tableSize}

// Matcher tries patterns on each line of one stream, which is written to it in chunks of
// any size. It matches what package regexp would match in the whole line, however long
// the line is: only the automaton's state is kept of it.
//
// A line ends at a line feed, a carriage return, or both in this order. What follows the
// last end is a line if it is not empty; so an empty stream has no line, as with grep.
// Terminal escape sequences are removed first. A byte that is not UTF-8 matches as U+FFFD.
//
// A Matcher is not safe for concurrent use.
type Matcher struct {
	limits   limits
	patterns []*Pattern
	seen     []bool

	stripper stripper
	text     []byte // a block without escape sequences
	rune     []byte // the first bytes of a rune that is not complete
	open     bool   // the last line has no end
	dfa      *dfa   // nil before the first text
}

// New returns a Matcher for the patterns, which Seen counts from 0.
func New(patterns []*Pattern) *Matcher {
	return &Matcher{limits: usual, patterns: patterns, seen: make([]bool, len(patterns))}
}

// Seen reports whether pattern i has matched a line that has ended; after Close, any line.
func (m *Matcher) Seen(i int) bool { return m.seen[i] }

// done reports whether all patterns have matched.
func (m *Matcher) done() bool { return len(m.seen) == 0 || m.dfa != nil && m.dfa.left == 0 }

// Write matches the lines that p ends. It never fails, and neither changes nor keeps p.
func (m *Matcher) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && !m.done() {
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

// Close ends the stream and its last line. Write must not follow.
func (m *Matcher) Close() {
	m.feed(m.stripper.flush(nil))
	if m.open {
		m.dfa.run(append(m.rune, '\n'))
	}
}

// feed takes text without escape sequences.
func (m *Matcher) feed(text []byte) {
	if len(text) == 0 || m.done() {
		return
	}
	if m.dfa == nil {
		m.dfa = newDFA(m.patterns, m.limits, m.seen)
	}
	last := text[len(text)-1]
	m.open = last != '\n' && last != '\r'
	for len(m.rune) > 0 && len(text) > 0 {
		m.rune = append(m.rune, text[0])
		text = text[1:]
		if n := fullRunes(m.rune); n > 0 {
			m.dfa.run(m.rune[:n])
			m.rune = append(m.rune[:0], m.rune[n:]...)
		}
	}
	n := fullRunes(text)
	m.dfa.run(text[:n])
	m.rune = append(m.rune, text[n:]...)
}

// fullRunes returns how many bytes of text are whole runes, or are not UTF-8. The
// beginning of a rune may follow them.
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
