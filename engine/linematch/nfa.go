// This file compiles patterns: the programs of regexp/syntax side by side, over classes
// of runes that no pattern distinguishes.

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
	starts []uint32 // where the program of each pattern begins
	// runes has a rune of each class, -1 for the line's ends. bytes has the class of each
	// byte; bounds and boundClass have those of the runes above ASCII: class i reaches
	// from bounds[i] up to the next.
	runes      []rune
	bytes      [256]uint8
	bounds     []rune
	boundClass []uint16
	asksWord   bool // a pattern asks for a word's edge
}

type inst struct {
	syntax.Inst
	pattern int
}

// newNFA compiles the patterns.
func newNFA(patterns []*Pattern) *nfa {
	n := &nfa{}
	var sets []*syntax.Inst // of runes, each once
	known := map[string]bool{}
	for i, p := range patterns {
		prog, _ := syntax.Compile(p.re.Simplify()) // copies what it changes, and does not fail after Parse
		base := uint32(len(n.insts))
		n.starts = append(n.starts, base+uint32(prog.Start))
		for k := range prog.Inst {
			in := &prog.Inst[k]
			in.Out += base
			switch in.Op {
			case syntax.InstAlt, syntax.InstAltMatch:
				in.Op, in.Arg = syntax.InstAlt, base+in.Arg
			case syntax.InstCapture:
				in.Op = syntax.InstNop
			case syntax.InstEmptyWidth:
				n.asksWord = n.asksWord ||
					syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				in.Op = syntax.InstRune
				if key := string(rune(in.Arg)) + string(in.Rune); !known[key] {
					known[key] = true
					sets = append(sets, in)
				}
			}
			n.insts = append(n.insts, inst{*in, i})
		}
	}
	if n.asksWord {
		sets = append(sets, &syntax.Inst{Op: syntax.InstRune, Rune: []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}})
	}
	n.classify(sets)
	return n
}

// cuts returns the runes at which a set begins or ends.
func cuts(sets []*syntax.Inst) []rune {
	cuts := []rune{0, '\n', '\n' + 1, '\r', '\r' + 1, 0x80}
	for _, set := range sets {
		if len(set.Rune) == 1 { // with its other cases: it may fold
			r := set.Rune[0]
			cuts = append(cuts, r, r+1)
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				cuts = append(cuts, f, f+1)
			}
			continue
		}
		for i := 0; i < len(set.Rune); i += 2 {
			cuts = append(cuts, set.Rune[i], set.Rune[i+1]+1)
		}
	}
	slices.Sort(cuts)
	if cuts = slices.Compact(cuts); cuts[len(cuts)-1] > unicode.MaxRune {
		return cuts[:len(cuts)-1]
	}
	return cuts
}

// classify divides the runes into classes: intervals between two cuts that are in the same
// sets are one.
func (n *nfa) classify(sets []*syntax.Inst) {
	n.runes = []rune{classLF: -1, classCR: -1, classHigh: -1}
	for b := 0x80; b < 256; b++ {
		n.bytes[b] = classHigh
	}
	classes, key := map[string]int{}, make([]byte, len(sets))
	cuts := cuts(sets)
	for i, low := range cuts {
		for k, set := range sets {
			key[k] = 0
			if set.MatchRune(low) {
				key[k] = 1
			}
		}
		class, known := classes[string(key)]
		switch {
		case low == '\n':
			class = classLF
		case low == '\r':
			class = classCR
		case !known:
			class = len(n.runes)
			classes[string(key)] = class
			n.runes = append(n.runes, low)
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
