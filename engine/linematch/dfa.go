// This file makes the states of an automaton when they are first needed, and forgets
// them when there are too many. To make one costs about 0.2 us for a usual pattern, in the
// worst case for each byte.

package linematch

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

const (
	// tableSize is the number of transitions of a dfa, 128 KiB: with a number of 16 bits
	// the inner loop needs no bounds check.
	tableSize = 1 << 16
	// threadsMax limits the threads of all states, reachMax those of the starts, 1 MiB each.
	threadsMax = 1 << 18
	reachMax   = 1 << 18
	// lanes is how many parts of a text are run side by side, which hides the latency
	// of the two look-ups for a byte.
	lanes = 4
)

// The context of a state: what precedes it.
const (
	afterOther  = iota
	afterWord   // a word rune
	atStart     // nothing: the line begins
	afterReturn // a carriage return ended the line before
	contexts
)

// before has a rune of each context, as syntax.EmptyOpContext reads it.
var before = [contexts]rune{afterOther: ' ', afterWord: 'a', atStart: -1, afterReturn: -1}

// dfa runs the patterns of an nfa that are not seen yet. A state is the set of threads
// after a rune: instructions, before the conditions on the next rune are followed. Threads
// that begin at the present position are not part of it, so a state is small even if the
// patterns are ten thousand words.
type dfa struct {
	*nfa
	limits limits
	seen   []bool
	left   int // patterns not seen

	// A state's number is the place of its row in table. Row 0 is all zeros, so an
	// unknown transition, which is 0, stays 0 whatever follows.
	stride int
	table  *[tableSize]uint16
	states []state
	number map[string]uint16 // of a state, by its key
	held   int               // threads of all states
	// lane has the states in use, which are not forgotten. Between two calls lane[0] is
	// that of the text.
	lane [lanes]uint16

	// reach has, by context and class, the threads that the starts lead to; nil is unknown.
	reach   [][]uint32
	reached int // threads in it

	// Of step: the instructions followed, and the threads that result.
	visited sparse
	threads []uint32
	stack   []uint32
	key     []byte
}

type state struct {
	threads []uint32
	context uint8
}

// sparse is a set of instructions that is emptied at no cost.
type sparse struct{ dense, where []uint32 }

func (s *sparse) add(pc uint32) bool {
	if w := s.where[pc]; int(w) < len(s.dense) && s.dense[w] == pc {
		return false
	}
	s.where[pc] = uint32(len(s.dense))
	s.dense = append(s.dense, pc)
	return true
}

// newDFA returns an automaton for the patterns, which marks in seen those that match.
func newDFA(patterns []*Pattern, l limits, seen []bool) *dfa {
	n := newNFA(patterns)
	d := &dfa{
		nfa: n, limits: l, seen: seen, left: len(seen), stride: min(len(n.runes), 256), table: new([tableSize]uint16),
	}
	d.visited.where = make([]uint32, len(n.insts))
	d.reach = make([][]uint32, contexts*len(n.runes))
	d.states, d.number = []state{{}}, map[string]uint16{}
	d.lane[0] = d.intern(nil, atStart)
	return d
}

// forget drops all states but those in lane.
func (d *dfa) forget() {
	var kept [lanes]state
	for i, s := range d.lane {
		kept[i] = d.states[int(s)/d.stride]
	}
	clear(d.table[:min(len(d.states)*d.stride, tableSize)])
	clear(d.number)
	d.states, d.held = d.states[:1], 0
	for i, st := range kept {
		if d.lane[i] != 0 {
			d.lane[i] = d.intern(st.threads, st.context)
		}
	}
}

// full reports whether there may be no place for one more state. Those in lane and a new
// one always have it.
func (d *dfa) full() bool {
	return len(d.states) > 2*lanes && ((len(d.states)+1)*d.stride > d.limits.table || d.held > threadsMax)
}

// intern returns the state of threads, which are sorted.
func (d *dfa) intern(threads []uint32, context uint8) uint16 {
	d.key = append(d.key[:0], context)
	for _, t := range threads {
		d.key = binary.LittleEndian.AppendUint32(d.key, t)
	}
	id, known := d.number[string(d.key)]
	if !known {
		id = uint16(len(d.states) * d.stride)
		d.number[string(d.key)] = id
		d.states = append(d.states, state{slices.Clone(threads), context})
		d.held += len(threads)
	}
	return id
}

// advance moves the state of a lane over a rune of class c.
func (d *dfa) advance(lane, c int) {
	if d.full() {
		d.forget()
	}
	from, left := d.lane[lane], d.left
	context := d.step(d.states[int(from)/d.stride], c)
	to := d.intern(d.threads, context)
	// A transition with a match happens once: its pattern is seen then.
	if c < d.stride && left == d.left {
		d.table[int(from)+c] = to
	}
	d.lane[lane] = to
}

// step computes the threads after a rune of class c, into d.threads, and returns the new
// context.
func (d *dfa) step(st state, c int) uint8 {
	d.threads = d.threads[:0]
	if st.context == afterReturn && c == classLF {
		return atStart // CR LF is one end
	}
	d.visited.dense = d.visited.dense[:0]
	holds := syntax.EmptyOpContext(before[st.context], d.runes[c])
	for _, pc := range st.threads {
		d.follow(pc, holds, c)
	}
	d.begin(&d.reach[int(st.context)*len(d.runes)+c], holds, c)
	slices.Sort(d.threads)
	d.threads = slices.Compact(d.threads)
	switch {
	case c == classLF:
		return atStart
	case c == classCR:
		return afterReturn
	case d.asksWord && syntax.IsWordChar(d.runes[c]):
		return afterWord
	}
	return afterOther
}

// begin adds the threads that the starts lead to, which it keeps in known.
func (d *dfa) begin(known *[]uint32, holds syntax.EmptyOp, c int) {
	if *known != nil {
		d.threads = append(d.threads, *known...)
		return
	}
	d.visited.dense = d.visited.dense[:0]
	before, left := len(d.threads), d.left
	for pattern, pc := range d.starts {
		if !d.seen[pattern] {
			d.follow(pc, holds, c)
		}
	}
	if more := d.threads[before:]; left == d.left && d.reached+len(more) <= reachMax {
		d.reached += len(more)
		*known = append([]uint32{}, more...)
	}
}

// follow adds the threads that pc leads to over a rune of class c, and marks the patterns
// that match before it.
func (d *dfa) follow(pc uint32, holds syntax.EmptyOp, c int) {
	d.stack = append(d.stack[:0], pc)
	for len(d.stack) > 0 {
		pc, d.stack = d.stack[len(d.stack)-1], d.stack[:len(d.stack)-1]
		in := &d.insts[pc]
		if d.seen[in.pattern] || !d.visited.add(pc) {
			continue
		}
		switch in.Op {
		case syntax.InstAlt:
			d.stack = append(d.stack, in.Arg, in.Out)
		case syntax.InstNop:
			d.stack = append(d.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
				d.stack = append(d.stack, in.Out)
			}
		case syntax.InstRune:
			if c >= firstClass && in.MatchRune(d.runes[c]) {
				d.threads = append(d.threads, in.Out)
			}
		case syntax.InstMatch:
			d.see(in.pattern)
		}
	}
}

// see marks a pattern. States may still have threads of it, which follow skips.
func (d *dfa) see(pattern int) {
	d.seen[pattern] = true
	d.left--
	clear(d.reach)
	d.reached = 0
}
