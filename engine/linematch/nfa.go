// This file's subject is the automaton of a set of patterns: the programs of
// regexp/syntax side by side, over classes of runes that no pattern distinguishes.

package linematch

import (
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
	// members has words words for each set of runes: a bit for each class.
	members []uint64
	words   int
	// classes counts the classes. bytes has the class of each byte; bounds and
	// boundClass have those of the runes above ASCII: class i reaches from
	// bounds[i] up to the next.
	classes    int
	bytes      [256]uint8
	bounds     []rune
	boundClass []uint16
	// word has the classes of word runes; it is empty if no pattern asks for a
	// word's edge.
	word []bool
}

// start is where the program of a pattern, counted by the matcher, begins.
type start struct{ pattern, pc uint32 }

type instOp uint8

const (
	opRune  instOp = iota // arg is a set of runes
	opEmpty               // empty is what must hold here
	opAlt                 // out or arg
	opNop
	opMatch
	opFail
)

type inst struct {
	op       instOp
	empty    syntax.EmptyOp
	pattern  uint32
	out, arg uint32
}

const (
	beginOps = syntax.EmptyBeginLine | syntax.EmptyBeginText
	endOps   = syntax.EmptyEndLine | syntax.EmptyEndText
	wordOps  = syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
)

// newNFA compiles the patterns.
func newNFA(patterns []*Pattern) *nfa {
	n := &nfa{}
	var sets runeSets
	asksWord := false
	for i, p := range patterns {
		prog := p.program()
		base := uint32(len(n.insts))
		n.starts = append(n.starts, start{uint32(i), base + uint32(prog.Start)})
		for k := range prog.Inst {
			in := translate(&prog.Inst[k], base, &sets)
			in.pattern = uint32(i)
			asksWord = asksWord || in.op == opEmpty && in.empty&wordOps != 0
			n.insts = append(n.insts, in)
		}
	}
	wordSet := -1
	if asksWord {
		wordSet = int(sets.add([]rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}))
	}
	n.classify(sets.list)
	if asksWord {
		n.word = make([]bool, n.classes)
		for c := range n.word {
			n.word[c] = n.member(uint32(wordSet), c)
		}
	}
	return n
}

func translate(in *syntax.Inst, base uint32, sets *runeSets) inst {
	out, arg := base+in.Out, base+in.Arg
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return inst{op: opAlt, out: out, arg: arg}
	case syntax.InstCapture, syntax.InstNop:
		return inst{op: opNop, out: out}
	case syntax.InstEmptyWidth:
		return inst{op: opEmpty, empty: syntax.EmptyOp(in.Arg), out: out}
	case syntax.InstMatch:
		return inst{op: opMatch}
	case syntax.InstRune, syntax.InstRune1:
		if len(in.Rune) == 1 {
			return inst{op: opRune, out: out, arg: sets.addRune(in.Rune[0], syntax.Flags(in.Arg)&syntax.FoldCase != 0)}
		}
		return inst{op: opRune, out: out, arg: sets.add(in.Rune)}
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		// No line holds a line feed.
		return inst{op: opRune, out: out, arg: sets.add([]rune{0, unicode.MaxRune})}
	default:
		return inst{op: opFail}
	}
}

// runeSets numbers the different sets of runes, each a list of pairs.
type runeSets struct {
	list   [][]rune
	single map[rune]uint32 // of one rune; negative if it folds
	ranges map[string]uint32
}

func (s *runeSets) addRune(r rune, fold bool) uint32 {
	key := r
	if fold {
		key = ^r
	}
	if id, ok := s.single[key]; ok {
		return id
	}
	if s.single == nil {
		s.single = make(map[rune]uint32)
	}
	set := []rune{r, r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			set = append(set, f, f)
		}
	}
	s.list = append(s.list, set)
	s.single[key] = uint32(len(s.list) - 1)
	return s.single[key]
}

func (s *runeSets) add(set []rune) uint32 {
	key := string(set)
	if id, ok := s.ranges[key]; ok {
		return id
	}
	if s.ranges == nil {
		s.ranges = make(map[string]uint32)
	}
	s.list = append(s.list, set)
	s.ranges[key] = uint32(len(s.list) - 1)
	return s.ranges[key]
}

// classify splits the runes into classes: it cuts them where a set begins or
// ends, and then distinguishes intervals only as far as some set does.
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
	class := refine(cuts, sets)
	n.number(cuts, class)
	n.words = (n.classes + 63) / 64
	n.members = make([]uint64, n.words*len(sets))
	for id, set := range sets {
		bits := n.members[id*n.words : (id+1)*n.words]
		eachInterval(cuts, set, func(i int) {
			if c := class[i]; c >= firstClass {
				bits[c/64] |= 1 << (c % 64)
			}
		})
	}
}

// refine gives each interval between two cuts a class of its own kind: the
// same for two intervals exactly if they are in the same sets.
func refine(cuts []rune, sets [][]rune) []int {
	class := make([]int, len(cuts))
	size := []int{len(cuts)}
	var count, moved []int
	for _, set := range sets {
		count = append(count[:0], make([]int, len(size))...)
		moved = append(moved[:0], make([]int, len(size))...)
		eachInterval(cuts, set, func(i int) { count[class[i]]++ })
		eachInterval(cuts, set, func(i int) {
			c := class[i]
			if count[c] == size[c] && moved[c] == 0 {
				return // the whole class is in the set
			}
			if moved[c] == 0 {
				moved[c] = len(size)
				size = append(size, 0)
			}
			class[i] = moved[c]
			size[moved[c]]++
		})
		for c, to := range moved {
			if to != 0 {
				size[c] -= count[c]
			}
		}
	}
	return class
}

func eachInterval(cuts, set []rune, do func(i int)) {
	for k := 0; k < len(set); k += 2 {
		i, _ := slices.BinarySearch(cuts, set[k])
		for ; i < len(cuts) && cuts[i] <= set[k+1]; i++ {
			do(i)
		}
	}
}

// number renames the classes of the intervals, those with an ASCII rune first,
// and fills the tables that lead from bytes and runes to them.
func (n *nfa) number(cuts []rune, class []int) {
	n.classes = firstClass
	names := make([]int, len(cuts))
	for i, lo := range cuts {
		var c int
		switch lo {
		case '\n':
			c = classLF
		case '\r':
			c = classCR
		default:
			if names[class[i]] == 0 {
				names[class[i]] = n.classes
				n.classes++
			}
			c = names[class[i]]
		}
		class[i] = c
		hi := rune(0x80)
		if i+1 < len(cuts) {
			hi = min(hi, cuts[i+1])
		}
		for b := lo; b < hi; b++ {
			n.bytes[b] = uint8(c)
		}
		if lo >= 0x80 {
			n.bounds = append(n.bounds, lo)
			n.boundClass = append(n.boundClass, uint16(c))
		}
	}
	for b := 0x80; b < 256; b++ {
		n.bytes[b] = classHigh
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
	return n.members[int(set)*n.words+c/64]>>(c%64)&1 != 0
}
