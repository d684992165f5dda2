package classify

// This file is the literal prefilter: which patterns are worth trying on which line.
//
// Each literal is filed under one of its three-byte windows. The text is walked once, from
// its end. The work is bounded by the length of the text (tails are bounded) and by
// maxTries for each pattern.

import "strings"

// filter finds the candidates of a table's rules in one walk over a text.
type filter struct {
	// heads are the first entries of each hash value, by index from 1; 0 is none.
	heads   [1 << 16]int32
	entries []entry
	// unindexed are patterns without a usable literal; they are tried on each of the last
	// maxTries lines.
	unindexed []candidate
	patterns  int // how many candidates there are
}

// candidate is one pattern of one rule; number counts the filter's patterns.
type candidate struct {
	rule    int
	pattern *pattern
	number  int
}

// entry is one literal filed under the window that starts at offset.
type entry struct {
	candidate
	literal string
	offset  int
	next    int32 // the next entry of the same hash value, 0 for none
}

func newFilter(rules []*Rule) *filter {
	f := &filter{entries: make([]entry, 1, 64*len(rules)+1)}
	for i, r := range rules {
		for _, p := range r.patterns {
			c := candidate{i, p, f.patterns}
			f.patterns++
			if p.literals == "" {
				f.unindexed = append(f.unindexed, c)
				continue
			}
			for literal := range strings.SplitSeq(p.literals, "\t") {
				f.add(c, literal)
			}
		}
	}
	return f
}

// add files the literal under one of its windows: the last one that is unused,
// or its end if none is.
func (f *filter) add(c candidate, literal string) {
	last := len(literal) - minLiteral
	offset, h := last, hash(window(literal, last))
	for o := last - 1; o >= 0 && f.heads[h] != 0; o-- {
		if other := hash(window(literal, o)); f.heads[other] == 0 {
			offset, h = o, other
		}
	}
	f.entries = append(f.entries, entry{c, literal, offset, f.heads[h]})
	f.heads[h] = int32(len(f.entries) - 1)
}

// window reads the three bytes at i as one number.
func window(s string, i int) uint32 { return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 }

// hash is Knuth's multiplicative hash (The Art of Computer Programming, vol. 3, section
// 6.4), its upper 16 bits.
func hash(w uint32) uint32 { return w * 2654435761 >> 16 }

// walk calls try for each literal found, from the end of the text to its start, with where
// the literal starts. The text is in lower case. wanted says of which rules the candidates
// are still wanted; try returns false to end the walk.
func (f *filter) walk(lower string, wanted []bool, try func(c candidate, at int) bool) {
	for i := len(lower) - minLiteral; i >= 0; i-- {
		for n := f.heads[hash(window(lower, i))]; n != 0; n = f.entries[n].next {
			e := &f.entries[n]
			at := i - e.offset
			if wanted[e.rule] && at >= 0 && strings.HasPrefix(lower[at:], e.literal) && !try(e.candidate, at) {
				return
			}
		}
	}
}
