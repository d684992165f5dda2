package guard

// This file holds what ends by itself, leases: slots, a breaker's places, and values
// of rotated names that have failed (docs/rotation.md), which runs try last.

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

func (t *transaction) wantsSlot() bool { return t.r.Slot && t.g.Slots.N > 0 }

// slotRefuses refuses where a slot is asked for and none is free. All slots of
// a key are one pool: N are held, by any runs.
func (t *transaction) slotRefuses() bool {
	if !t.wantsSlot() {
		return false
	}
	held := t.r.Held
	if held < 0 {
		t.s.Slots = expire(t.s.Slots, t.now)
		held = int64(len(t.s.Slots))
	}
	return held >= t.g.Slots.N && t.refuse(Refusal{Guard: KindSlots, RetryIn: -1, Count: held, Of: t.g.Slots.N})
}

// Lease is something that is held until a time, in milliseconds.
type Lease struct {
	ID, Until int64
}

func expire(leases []Lease, now int64) []Lease {
	return slices.DeleteFunc(leases, func(l Lease) bool { return l.Until <= now })
}

func release(leases []Lease, id int64) []Lease {
	return slices.DeleteFunc(leases, func(l Lease) bool { return l.ID == id })
}

func earliest(leases []Lease) int64 {
	return slices.MinFunc(leases, func(a, b Lease) int { return cmp.Compare(a.Until, b.Until) }).Until
}

// clampLeases shortens leases that a clock that was ahead made too long.
func clampLeases(leases []Lease, longest int64) {
	for i := range leases {
		leases[i].Until = min(leases[i].Until, longest)
	}
}
