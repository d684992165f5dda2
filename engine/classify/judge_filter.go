package classify

// This file is the literal prefilter: which patterns are worth trying on
// which line.
//
// Each literal is filed under one of its three-byte windows. The text is walked
// once, from its end; a bitmap answers for nearly every position that no
// literal has its window there. The work is bounded by the length of the text
// (tails are bounded) and by maxTries for each pattern.

// filter finds candidates of all rules of a table in one walk over a text.
type filter struct {
	bitmap  [filterBits / 64]uint64
	entries map[uint32][]entry
	// loose are patterns without a usable literal; they are tried on each of
	// the last maxTries lines.
	loose []candidate
}

const filterBits = 1 << 16

// candidate is one pattern of one rule, by index.
type candidate struct {
	rule, pattern int
}

// entry is one literal filed under the window that starts at offset.
type entry struct {
	candidate
	literal string
	offset  int
}

func newFilter(rules []*Rule) *filter {
	f := &filter{entries: make(map[uint32][]entry, 4*len(rules))}
	for i, r := range rules {
		for j, p := range r.patterns {
			c := candidate{i, j}
			set := requiredLiterals(p.text)
			if set == nil {
				f.loose = append(f.loose, c)
			}
			for _, literal := range set {
				f.add(c, literal)
			}
		}
	}
	return f
}

// add files the literal under its window with the fewest entries so far, the
// last of them: endings repeat less than beginnings such as "error".
func (f *filter) add(c candidate, literal string) {
	best, least := 0, -1
	for o := len(literal) - minLiteral; o >= 0; o-- {
		if n := len(f.entries[window(literal, o)]); least < 0 || n < least {
			best, least = o, n
		}
	}
	w := window(literal, best)
	f.entries[w] = append(f.entries[w], entry{c, literal, best})
	h := hash(w)
	f.bitmap[h/64] |= 1 << (h % 64)
}

// window reads the three bytes at i as one number.
func window(s string, i int) uint32 {
	_ = s[i+2]
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16
}

// hash is Knuth's multiplicative hash (The Art of Computer Programming, vol.
// 3, section 6.4), its upper 16 bits.
func hash(w uint32) uint32 { return w * 2654435761 >> 16 }

// walk calls try for each literal found, from the end of the text to its
// start, with where the literal starts. The text is in lower case.
func (f *filter) walk(lower string, try func(c candidate, at int)) {
	if len(lower) < minLiteral {
		return
	}
	var w uint32
	end := len(lower) - 1
	for i := end; i >= 0; i-- {
		w = (w<<8 | uint32(lower[i])) & 0xffffff
		if i > end-minLiteral+1 {
			continue
		}
		h := hash(w)
		if f.bitmap[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		for _, e := range f.entries[w] {
			start := i - e.offset
			if start >= 0 && start+len(e.literal) <= len(lower) && lower[start:start+len(e.literal)] == e.literal {
				try(e.candidate, start)
			}
		}
	}
}
