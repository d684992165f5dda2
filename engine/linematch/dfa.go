// This file makes the states of an automaton when they are first needed, and forgets
// them when there are too many.

package linematch

import (
	"math/bits"
	"regexp/syntax"
	"slices"
)

const (
	// tableSize is the number of transitions of a dfa, 128 KiB: with a number of 16 bits
	// the inner loop needs no bounds check.
	tableSize = 1 << 16
	// arenaMax limits the threads of all states, 1 MiB, reachMax those of the starts.
	arenaMax = 1 << 18
	reachMax = 1 << 18
	// thrash is how many bytes a state must serve on average: to make one costs about
	// 1 us, a byte without states about 1 ns.
	thrash = 64
	// uncachedMin is for how many bytes one pattern is run without states; it doubles
	// each time, up to uncachedMax.
	uncachedMin = 1 << 20
	uncachedMax = 1 << 30
	// lanes is how many parts of a text are run side by side, which hides the latency
	// of the two look-ups for a byte.
	lanes = 4
)

// The context of a state: what precedes it.
const (
	afterWord   = 1 << iota // a word rune
	atStart                 // nothing: the line begins
	afterReturn             // a carriage return ended the line before
	contexts    = 4         // of the first two together
)

// dfa runs the patterns of an nfa that are alive; a match kills its pattern. A state is
// the set of threads that wait for a rune, or for the condition that the next rune
// decides. Threads that begin at the present position are not part of it, so a state is
// small even if the patterns are ten thousand words.
type dfa struct {
	*nfa
	limits  limits
	alive   []bool // by the matcher's count
	live    int
	matched func(pattern int)

	// A state's number is the place of its row in table. Row 0 is all zeros, so an
	// unknown transition, which is 0, stays 0 whatever follows.
	stride int
	table  *[tableSize]uint16
	states []dfaState
	arena  []uint32
	index  []uint16 // hash table of the states, open addressing
	// lane has the states in use, which are not forgotten. Between two calls lane[0] is
	// that of the text.
	lane [lanes]uint16

	// reach is, by context and class, what the starts lead to.
	reach     []reach
	reachSize int

	// Of step: instructions explored before and after the rune, the threads that
	// result, the patterns that matched.
	now, next sparse
	threads   []uint32
	stack     []uint32
	hits      []uint32

	age int // how often the states were forgotten
	// bytes counts the text that was run, forgot when the states were last forgotten.
	// uncached is how much more is run without states, penalty how much next time.
	bytes, forgot, uncached, penalty int64
	split                            bool // the owner is to divide the patterns among two automata
}

type dfaState struct {
	lo, hi  uint32 // threads in the arena
	context uint8
}

type reach struct {
	done          bool
	threads, hits []uint32
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

// newDFA returns an automaton for the patterns of n that are alive; the slice is its own
// then. It calls matched once for each that matches.
func newDFA(n *nfa, l limits, alive []bool, matched func(int)) *dfa {
	d := &dfa{nfa: n, limits: l, alive: alive, matched: matched, stride: min(n.classes, 256), penalty: uncachedMin}
	for _, s := range n.starts {
		if alive[s.pattern] {
			d.live++
		}
	}
	d.table = new([tableSize]uint16)
	d.now.where = make([]uint32, len(n.insts))
	d.next.where = make([]uint32, len(n.insts))
	d.index = make([]uint16, 1<<(bits.Len(uint(tableSize/d.stride))+1)) // half full at most
	d.reach = make([]reach, contexts*n.classes)
	d.states = append(d.states, dfaState{})
	d.lane[0] = d.intern(nil, atStart)
	return d
}

// kill removes a pattern. States may still have threads of it, which step skips.
func (d *dfa) kill(pattern int) {
	if d.alive[pattern] {
		d.alive[pattern] = false
		d.live--
		clear(d.reach)
		d.reachSize = 0
	}
}

// halve removes half of the patterns, and returns an automaton for them at the same
// place of the text.
func (d *dfa) halve() *dfa {
	d.split, d.uncached, d.penalty = false, 0, uncachedMin
	alive := make([]bool, len(d.alive))
	for i, left := 0, (d.live+1)/2; left > 0; i++ {
		if d.alive[i] {
			alive[i] = true
			d.kill(i)
			left--
		}
	}
	other := newDFA(d.nfa, d.limits, alive, d.matched)
	st := d.states[int(d.lane[0])/d.stride]
	other.lane[0] = other.intern(d.arena[st.lo:st.hi], st.context)
	d.forget()
	return other
}

// forget drops all states but those in lane.
func (d *dfa) forget() {
	d.age++
	clear(d.table[:min(len(d.states)*d.stride, tableSize)])
	clear(d.index)
	old, arena := d.states, d.arena
	d.states, d.arena = []dfaState{{}}, nil
	for i, s := range d.lane {
		if s != 0 {
			st := old[int(s)/d.stride]
			d.lane[i] = d.intern(arena[st.lo:st.hi], st.context)
		}
	}
}

// full reports whether a new state of n threads does not fit. Those in lane and a new
// one always do.
func (d *dfa) full(n int) bool {
	return len(d.states) > 2*lanes && ((len(d.states)+1)*d.stride > d.limits.table || len(d.arena)+n > arenaMax)
}

// intern returns the state of threads, which are sorted.
func (d *dfa) intern(threads []uint32, context uint8) uint16 {
	h := uint32(context) + 0x9e3779b9
	for _, t := range threads {
		h = (h ^ t) * 0x85ebca6b
		h ^= h >> 15
	}
	mask := uint32(len(d.index) - 1)
	slot := h & mask
	for ; d.index[slot] != 0; slot = (slot + 1) & mask {
		id := d.index[slot]
		st := d.states[int(id)/d.stride]
		if st.context == context && slices.Equal(d.arena[st.lo:st.hi], threads) {
			return id
		}
	}
	if d.full(len(threads)) {
		d.overflow()
		return d.intern(threads, context)
	}
	lo := uint32(len(d.arena))
	d.arena = append(d.arena, threads...)
	id := uint16(len(d.states) * d.stride)
	d.states = append(d.states, dfaState{lo, uint32(len(d.arena)), context})
	d.index[slot] = id
	return id
}

// overflow forgets the states. If they have served too few bytes, several patterns are
// divided, and one alone is run without states.
func (d *dfa) overflow() {
	if d.bytes-d.forgot < thrash*int64(len(d.states)) {
		d.uncached = d.penalty
		d.penalty = min(2*d.penalty, uncachedMax)
		d.split = d.live > 1
	}
	d.forgot = d.bytes
	d.forget()
}

// advance returns the state after another one and a rune of class c.
func (d *dfa) advance(from uint16, c int) uint16 {
	st := d.states[int(from)/d.stride]
	context := d.step(d.arena[st.lo:st.hi], st.context, c)
	// A transition with a match happens once: its pattern is killed.
	keep := c < d.stride && len(d.hits) == 0
	d.report()
	slices.Sort(d.threads)
	age := d.age
	to := d.intern(d.threads, context)
	if keep && age == d.age {
		d.table[int(from)+c] = to
	}
	return to
}

// report kills and reports the patterns that have matched.
func (d *dfa) report() {
	for _, p := range d.hits {
		if d.alive[p] {
			d.kill(int(p))
			d.matched(int(p))
		}
	}
	d.hits = d.hits[:0]
}

// step computes the threads after a rune of class c, into d.threads, the patterns that
// matched, into d.hits, and the new context.
func (d *dfa) step(threads []uint32, context uint8, c int) uint8 {
	d.restart()
	if context&afterReturn != 0 && c == classLF {
		return atStart // CR LF is one end
	}
	holds := d.holds(context, c)
	for _, t := range threads {
		in := &d.insts[t]
		switch {
		case !d.alive[in.pattern]:
		case in.op == syntax.InstRune:
			if !d.member(in.arg, c) {
				break
			}
			if d.insts[in.out].op != syntax.InstRune {
				d.follow(in.out)
			} else if d.next.add(in.out) {
				d.threads = append(d.threads, in.out)
			}
		case syntax.EmptyOp(in.arg)&^holds == 0:
			d.explore(in.out, holds, c)
		}
	}
	d.begin(context&(afterWord|atStart), holds, c)
	switch {
	case c == classLF:
		return atStart
	case c == classCR:
		return atStart | afterReturn
	case d.isWord(c):
		return afterWord
	}
	return 0
}

// holds returns the conditions that are met before a rune of class c.
func (d *dfa) holds(context uint8, c int) syntax.EmptyOp {
	var holds syntax.EmptyOp
	if context&atStart != 0 {
		holds |= beginOps
	}
	if c < firstClass {
		holds |= endOps
	}
	if d.isWord(c) != (context&afterWord != 0) {
		return holds | syntax.EmptyWordBoundary
	}
	return holds | syntax.EmptyNoWordBoundary
}

// begin adds what the starts lead to.
func (d *dfa) begin(context uint8, holds syntax.EmptyOp, c int) {
	r := &d.reach[int(context)*d.classes+c]
	if r.done {
		d.join(r.threads, r.hits)
		return
	}
	threads, hits := slices.Clone(d.threads), slices.Clone(d.hits)
	d.restart()
	for _, s := range d.starts {
		if d.alive[s.pattern] {
			d.explore(s.pc, holds, c)
		}
	}
	if d.reachSize+len(d.threads) <= reachMax {
		d.reachSize += len(d.threads)
		*r = reach{true, slices.Clone(d.threads), slices.Clone(d.hits)}
	}
	d.join(threads, hits)
}

func (d *dfa) restart() {
	d.now.dense, d.next.dense = d.now.dense[:0], d.next.dense[:0]
	d.threads, d.hits = d.threads[:0], d.hits[:0]
}

func (d *dfa) join(threads, hits []uint32) {
	for _, t := range threads {
		if d.next.add(t) {
			d.threads = append(d.threads, t)
		}
	}
	d.hits = append(d.hits, hits...)
}

// explore follows pc through a rune of class c; all conditions are known.
func (d *dfa) explore(pc uint32, holds syntax.EmptyOp, c int) {
	d.spread(&d.now, pc, func(_ uint32, in *inst) bool {
		if in.op == syntax.InstRune && d.member(in.arg, c) {
			d.follow(in.out)
		}
		return in.op == syntax.InstEmptyWidth && syntax.EmptyOp(in.arg)&^holds == 0
	})
}

// follow adds the threads at pc, after a rune. A condition on the next rune makes a
// thread wait; the line's start has passed.
func (d *dfa) follow(pc uint32) {
	d.spread(&d.next, pc, func(pc uint32, in *inst) bool {
		if in.op == syntax.InstRune || syntax.EmptyOp(in.arg)&beginOps == 0 {
			d.threads = append(d.threads, pc)
		}
		return false
	})
}

// spread adds to set what pc leads to, behind a rune or a condition if goesOn says so.
func (d *dfa) spread(set *sparse, pc uint32, goesOn func(pc uint32, in *inst) bool) {
	stack := append(d.stack[:0], pc)
	for len(stack) > 0 {
		pc = stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !set.add(pc) {
			continue
		}
		switch in := &d.insts[pc]; in.op {
		case syntax.InstAlt:
			stack = append(stack, in.arg, in.out)
		case syntax.InstNop:
			stack = append(stack, in.out)
		case syntax.InstMatch:
			d.hits = append(d.hits, in.pattern)
		case syntax.InstEmptyWidth, syntax.InstRune:
			d.stack = stack[len(stack):] // for follow
			if goesOn(pc, in) {
				stack = append(stack, in.out)
			}
		}
	}
	d.stack = stack
}
