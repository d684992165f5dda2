package guard

// This file counts slots, and holds what slots and a breaker's places have in
// common: leases.

import (
	"cmp"
	"slices"
)

// Slots are the parameters of a limit of attempts at a time. N 0 is none.
type Slots struct {
	N int64
	// Wait is how long a run waits for a slot, in milliseconds.
	Wait int64
	Of   Of
}

// Of says what holds a slot.
type Of int

// What holds a slot: each attempt, each but the first of a run, or the whole run.
const (
	OfAttempts Of = iota
	OfRetries
	OfRuns
)

// slotRefuses reports whether a slot is asked for and none is free. All slots of
// a key are one pool: N are held, by any runs.
func (s *State) slotRefuses(g *Guards, r *Request, now int64) (Refusal, bool) {
	if !r.Slot || g.Slots.N == 0 {
		return Refusal{}, false
	}
	held := r.Held
	if held < 0 {
		s.Slots = expire(s.Slots, now)
		held = int64(len(s.Slots))
	}
	return Refusal{Guard: KindSlots, RetryIn: -1, Figures: [3]int64{held, g.Slots.N}}, held >= g.Slots.N
}

// takeSlot takes a slot that is free.
func (s *State) takeSlot(g *Guards, r *Request, pass *Pass, now int64) {
	if !r.Slot || g.Slots.N == 0 {
		return
	}
	pass.Slot = true
	if r.Held < 0 {
		s.Slots = append(s.Slots, Lease{r.ID, now + LeaseFor})
	}
}

// renewSlot holds a slot for another lease. Where the lease was lost, the slot is
// held again: what it stands for still runs.
func (s *State) renewSlot(id, now int64) {
	s.Slots = append(release(s.Slots, id), Lease{id, now + LeaseFor})
}

// expire drops leases that have run out.
func expire(leases []Lease, now int64) []Lease {
	return slices.DeleteFunc(leases, func(l Lease) bool { return l.Until <= now })
}

// release drops the lease of an ID.
func release(leases []Lease, id int64) []Lease {
	return slices.DeleteFunc(leases, func(l Lease) bool { return l.ID == id })
}

func holds(leases []Lease, id int64) bool {
	return slices.ContainsFunc(leases, func(l Lease) bool { return l.ID == id })
}

// earliest is when the first of some leases ends.
func earliest(leases []Lease) int64 {
	return slices.MinFunc(leases, func(a, b Lease) int { return cmp.Compare(a.Until, b.Until) }).Until
}

// clampLeases shortens leases that a clock that was ahead made too long.
func clampLeases(leases []Lease, longest int64) {
	for i := range leases {
		leases[i].Until = min(leases[i].Until, longest)
	}
}
