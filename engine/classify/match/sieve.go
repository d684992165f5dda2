// This file's subject is which lines are worth a pattern's trouble: those
// that hold its literal, as long as they are few.

package match

import "bytes"

// wastedMax is how often the filter may say maybe for patterns that were seen
// before it is made anew, which takes about as long.
const wastedMax = 1 << 10

// sieve is what the search for literals remembers.
type sieve struct {
	which []int // the patterns that are sifted
	// from and to are the line that was tried last, in the present text.
	from, to int
	// Since demote last judged, total counts the bytes that were looked at, and
	// cost, by pattern, those of the lines that were tried because of it.
	total int64
	cost  []int64
}

// needSifted makes the automaton of the patterns that have a literal, once
// there is a line for it.
func (m *Matcher) needSifted() {
	if m.filter != nil && m.sieve.cost == nil {
		m.sifted = append(m.sifted, m.newDFA(m.sieve.which))
		m.sieve.cost = make([]int64, len(m.patterns))
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
	for i, n := f.next(text, 0, m.seen); n != nil; i, n = f.next(text, m.sieve.to, m.seen) {
		m.try(text, i, n.pattern)
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

// try runs the automata on the line around i, because of one pattern.
func (m *Matcher) try(text []byte, i, pattern int) {
	s := &m.sieve
	m.needSifted()
	s.from, s.to = lastEnd(text[:i]), i+firstEnd(text[i:])
	s.cost[pattern] += int64(s.to - s.from)
	for _, d := range m.sifted {
		d.runLines(text[s.from:s.to])
	}
}

// demote makes patterns run on every line whose literals stand in so many that
// looking for them does not pay; where the filter says maybe too often, all.
func (m *Matcher) demote() {
	s := &m.sieve
	if s.total < m.limits.sift {
		return
	}
	all := m.filter.met > s.total/16
	var keep, drop []int
	for _, p := range s.which {
		switch {
		case m.seen[p]:
		case all || s.cost != nil && s.cost[p] > s.total/16:
			drop = append(drop, p)
		default:
			keep = append(keep, p)
		}
	}
	if len(drop) > 0 || m.filter.wasted > wastedMax {
		m.resift(keep, drop)
	}
	s.total = 0
	if m.filter != nil {
		m.filter.met, m.filter.wasted = 0, 0
	}
	clear(s.cost)
}

// resift goes on with the patterns of keep, and runs those of drop, together
// with the others of their kind, on every line.
func (m *Matcher) resift(keep, drop []int) {
	m.sieve.which, m.filter = keep, nil
	if len(keep) > 0 {
		m.filter = newFilter(m.patterns, keep)
	}
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
