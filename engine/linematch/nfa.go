// This file compiles patterns: the programs of regexp/syntax side by side, over classes
// of runes that no pattern distinguishes.

package linematch

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
)

// The classes that every automaton has. Ordinary classes follow, those with an
// ASCII rune first.
const (
	classLF   = iota // the line feed, and the end of the stream
	classCR          // the carriage return
	classHigh        // a byte above 0x7f: the rune has to be decoded
	firstClass
)

// nfa is the programs of some patterns. It never changes once it is made.
type nfa struct {
	insts  []inst
	starts []start
	// members has words words for each class: a bit for each set of runes that its
	// runes are in. No set holds the classes below firstClass.
	members []uint64
	words   int
	// classes counts the classes. bytes has the class of each byte; bounds and
	// boundClass have those of the runes above ASCII: class i reaches from
	// bounds[i] up to the next.
	classes    int
	bytes      [256]uint8
	bounds     []rune
	boundClass []uint16
	// word is the set of the word runes, if a pattern asks for a word's edge.
	word     uint32
	asksWord bool
}

// start is where the program of a pattern, counted by the matcher, begins.
type start struct{ pattern, pc uint32 }

// inst is one of InstAlt, InstNop, InstRune (arg is a set of runes), InstEmptyWidth (arg
// is what must hold), InstMatch and InstFail.
type inst struct {
	op                syntax.InstOp
	pattern, out, arg uint32
}

const (
	beginOps = syntax.EmptyBeginLine | syntax.EmptyBeginText
	endOps   = syntax.EmptyEndLine | syntax.EmptyEndText
	wordOps  = syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
)

// newNFA compiles the patterns.
func newNFA(patterns []*Pattern) *nfa {
	n := &nfa{}
	sets := runeSets{ids: map[setKey]uint32{}}
	for i, p := range patterns {
		prog := p.program()
		base := uint32(len(n.insts))
		n.starts = append(n.starts, start{uint32(i), base + uint32(prog.Start)})
		for _, from := range prog.Inst {
			in := inst{op: from.Op, pattern: uint32(i), out: base + from.Out, arg: from.Arg}
			switch from.Op {
			case syntax.InstAlt, syntax.InstAltMatch:
				in.op, in.arg = syntax.InstAlt, base+from.Arg
			case syntax.InstCapture:
				in.op = syntax.InstNop
			case syntax.InstEmptyWidth:
				n.asksWord = n.asksWord || syntax.EmptyOp(from.Arg)&wordOps != 0
			case syntax.InstRune, syntax.InstRune1:
				fold := len(from.Rune) == 1 && syntax.Flags(from.Arg)&syntax.FoldCase != 0
				in.op, in.arg = syntax.InstRune, sets.add(from.Rune, fold)
			case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				// No line holds a line feed.
				in.op, in.arg = syntax.InstRune, sets.add([]rune{0, unicode.MaxRune}, false)
			}
			n.insts = append(n.insts, in)
		}
	}
	if n.asksWord {
		n.word = sets.add([]rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}, false)
	}
	n.classify(sets.list)
	return n
}

// runeSets numbers the different sets of runes, each a list of pairs.
type runeSets struct {
	list [][]rune
	ids  map[setKey]uint32
}

type setKey struct {
	runes string
	fold  bool
}

// add returns the number of a set: a list of pairs, or one rune, with its other cases
// where it folds.
func (s *runeSets) add(set []rune, fold bool) uint32 {
	key := setKey{string(set), fold}
	if id, ok := s.ids[key]; ok {
		return id
	}
	if r := set[0]; len(set) == 1 {
		set = []rune{r, r}
		for f := unicode.SimpleFold(r); fold && f != r; f = unicode.SimpleFold(f) {
			set = append(set, f, f)
		}
	}
	id := uint32(len(s.list))
	s.list, s.ids[key] = append(s.list, set), id
	return id
}

// classify cuts the runes where a set begins or ends. Intervals between two cuts that are
// in the same sets are a class, those with an ASCII rune first.
func (n *nfa) classify(sets [][]rune) {
	cuts := []rune{0, '\n', '\n' + 1, '\r', '\r' + 1, 0x80}
	for _, set := range sets {
		for i := 0; i < len(set); i += 2 {
			cuts = append(cuts, set[i], set[i+1]+1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if cuts[len(cuts)-1] > unicode.MaxRune {
		cuts = cuts[:len(cuts)-1]
	}
	n.words = (len(sets) + 63) / 64
	in := make([]uint64, n.words*len(cuts)) // the sets of each interval
	for id, set := range sets {
		for k := 0; k < len(set); k += 2 {
			i, _ := slices.BinarySearch(cuts, set[k])
			for ; i < len(cuts) && cuts[i] <= set[k+1]; i++ {
				in[i*n.words+id/64] |= 1 << (id % 64)
			}
		}
	}
	n.classes, n.members = firstClass, make([]uint64, n.words*firstClass)
	for b := 0x80; b < 256; b++ {
		n.bytes[b] = classHigh
	}
	named, key := map[string]int{}, []byte(nil)
	for i, low := range cuts {
		class := classLF
		switch low {
		case '\n':
		case '\r':
			class = classCR
		default:
			sets := in[i*n.words : (i+1)*n.words]
			key = key[:0]
			for _, word := range sets {
				key = binary.LittleEndian.AppendUint64(key, word)
			}
			known := false
			if class, known = named[string(key)]; !known {
				class = n.classes
				named[string(key)] = class
				n.classes++
				n.members = append(n.members, sets...)
			}
		}
		high := rune(0x80)
		if i+1 < len(cuts) {
			high = min(high, cuts[i+1])
		}
		for b := low; b < high; b++ {
			n.bytes[b] = uint8(class)
		}
		if low >= 0x80 {
			n.bounds, n.boundClass = append(n.bounds, low), append(n.boundClass, uint16(class))
		}
	}
}

// classOf returns the class of a rune above ASCII.
func (n *nfa) classOf(r rune) int {
	i, found := slices.BinarySearch(n.bounds, r)
	if !found {
		i--
	}
	return int(n.boundClass[i])
}

// member reports whether the runes of class c are in the set.
func (n *nfa) member(set uint32, c int) bool {
	return n.members[c*n.words+int(set/64)]>>(set%64)&1 != 0
}

// isWord reports whether class c is of word runes; it is false where no pattern asks for
// a word's edge.
func (n *nfa) isWord(c int) bool { return n.asksWord && n.member(n.word, c) }
