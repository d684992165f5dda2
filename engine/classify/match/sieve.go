// This file's subject is which lines are worth a pattern's trouble: those
// that hold its literal, as long as they are few.

package match

import (
	"bytes"
	"slices"
)

// wastedMax is how often the filter may say maybe for patterns that were seen
// before it is made anew, which takes about as long.
const wastedMax = 1 << 10

// learnMax bounds the time that goes into better filters: 50 us for each.
const learnMax = 8

// sieve is what the search for literals remembers.
type sieve struct {
	which []int // the patterns that are sifted
	// from and to are the line that was tried last, in the present text, and
	// line counts the lines that were tried.
	from, to int
	line     int64
	// Since demote last judged, total counts the bytes that were looked at, and
	// cost, by pattern, those of the lines that were tried because of it.
	total int64
	cost  []int64
	// known is what the filter has found to be frequent in this text, so that
	// the next one goes by other strings; it is learned learnMax times at most.
	known   lessons
	learned int
}

// wakeMax is how many patterns are compiled one by one, when their literals
// first come up. After that the rest is compiled as one.
const wakeMax = 4

// wake returns the automaton of a pattern that is sifted.
func (m *Matcher) wake(pattern int) *dfa {
	for _, d := range m.sifted {
		if d.alive[pattern] {
			return d
		}
	}
	if len(m.sifted) < wakeMax {
		m.sifted = append(m.sifted, m.newDFA([]int{pattern}))
	} else {
		m.wakeAll()
	}
	return m.wake(pattern)
}

// wakeAll makes an automaton for the patterns that are asleep.
func (m *Matcher) wakeAll() {
	var asleep []int
	for _, p := range m.sieve.which {
		awake := func(d *dfa) bool { return d.alive[p] }
		if !m.seen[p] && !slices.ContainsFunc(m.sifted, awake) {
			asleep = append(asleep, p)
		}
	}
	if len(asleep) > 0 {
		m.sifted = append(m.sifted, m.newDFA(asleep))
	}
}

// sift tries the patterns that have a literal on those lines that hold it.
func (m *Matcher) sift(text []byte) {
	f := m.filter
	m.sieve.from, m.sieve.to = 0, 0
	m.sieve.total += int64(len(text))
	if len(f.folding) > 0 {
		m.siftFolding(text)
	}
	for i := f.next(text, 0, m.seen); i < len(text); i = f.next(text, i+f.stride, m.seen) {
		for _, p := range f.found {
			m.try(text, i, p)
		}
	}
	for k := range f.loners {
		l := &f.loners[k]
		for i := l.next(text, 0); i < len(text) && !m.seen[l.pattern]; i = l.next(text, m.sieve.to) {
			m.try(text, i, l.pattern)
		}
	}
	m.demote()
}

// siftFolding looks for the two runes above ASCII that fold to letters: lines
// that hold one may match although no literal stands in them.
func (m *Matcher) siftFolding(text []byte) {
	for _, r := range []string{"\u017f", "\u212a"} {
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte(r))
			if i < 0 {
				break
			}
			for _, p := range m.filter.folding {
				m.try(text, at+i, p)
			}
			at += i + len(r)
		}
	}
}

// try runs the automaton of a pattern on the line around i, once a line.
func (m *Matcher) try(text []byte, i, pattern int) {
	s := &m.sieve
	if m.seen[pattern] {
		return
	}
	if i < s.from || i >= s.to {
		s.from, s.to = lastEnd(text[:i]), i+firstEnd(text[i:])
		s.line++
	}
	d := m.wake(pattern)
	if d.line == s.line {
		return
	}
	d.line = s.line
	s.cost[pattern] += int64(s.to - s.from)
	d.runLines(text[s.from:s.to])
}

// demote makes patterns run on every line whose literals stand in so many that
// looking for them does not pay; where the filter says maybe too often, all.
func (m *Matcher) demote() {
	s := &m.sieve
	if s.total < m.limits.sift {
		return
	}
	all := m.filter.met > s.total/16
	var drop []int
	for _, p := range s.which {
		if !m.seen[p] && (all || s.cost[p] > s.total/16) {
			drop = append(drop, p)
		}
	}
	if len(drop) > 0 || m.filter.wasted > wastedMax || m.learn() {
		m.resift(drop)
	}
	s.total = 0
	if m.filter != nil {
		m.filter.met, m.filter.wasted = 0, 0
	}
	clear(s.cost)
}

// learn reports whether the filter should be made anew because some strings it
// goes by turn out to be frequent.
func (m *Matcher) learn() bool {
	s := &m.sieve
	if s.learned == learnMax {
		return false
	}
	if s.learned == 0 {
		s.known = lessons{make(map[uint32]bool), make(map[string]bool)}
	}
	if !m.filter.crowded(s.total, s.known) {
		return false
	}
	s.learned++
	return true
}

// resift makes the filter anew, without the patterns of drop: those run on
// every line from now on, with the others that do.
func (m *Matcher) resift(drop []int) {
	var keep []int
	for _, p := range m.sieve.which {
		if !m.seen[p] && !slices.Contains(drop, p) {
			keep = append(keep, p)
		}
	}
	m.filter = nil
	if len(keep) > 0 {
		m.filter = newFilter(m.patterns, keep, m.sieve.known)
	}
	if m.filter == nil {
		drop, keep = append(drop, keep...), nil
	}
	m.sieve.which = keep
	if len(drop) == 0 {
		return
	}
	for _, d := range m.sifted {
		for _, i := range drop {
			d.kill(i)
		}
	}
	for _, d := range m.every {
		for i, alive := range d.alive {
			if alive {
				drop = append(drop, i)
			}
		}
	}
	m.every = []*dfa{m.newDFA(drop)}
}
