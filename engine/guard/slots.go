package guard

// This file holds what ends by itself, leases: slots, and a breaker's places.

import "slices"

// Slots are the parameters of a limit of attempts at a time. N 0 is none.
type Slots struct {
	N int64
	// Wait is how long a run waits for a slot, in milliseconds.
	Wait int64
	Of   Of
	Lost Lost
}

// Of says what holds a slot.
type Of int

// What holds a slot: each attempt, each but the first of a run, or the whole run.
const (
	OfAttempts Of = iota
	OfRetries
	OfRuns
)

// Lost says what follows if a slot is lost, since its lease could not be renewed.
type Lost int

// What follows: WarnUnasked, the default, and Warn warn, Stop ends the command.
const (
	WarnUnasked Lost = iota
	Warn
	Stop
)

func (t *transaction) wantsSlot() bool { return t.r.Slot && t.g.Slots.N > 0 }

// checkSlots refuses if a slot is asked for and none is free. All slots of a key are one pool:
// N are held, by any runs.
func (t *transaction) checkSlots() *Refusal {
	held := t.r.Held
	if !t.wantsSlot() {
		return nil
	}
	if held < 0 {
		held = 0
		for _, l := range t.s.Slots {
			if l.Until > t.now && l.ID != t.r.ID {
				held++
			}
		}
	}
	if held < t.g.Slots.N {
		return nil
	}
	return &Refusal{Guard: KindSlots, RetryIn: -1, Held: held}
}

// holds reports whether a slot is held by an ID.
func (s *State) holds(id int64) bool {
	return slices.ContainsFunc(s.Slots, func(l Lease) bool { return l.ID == id })
}

// holdSlot holds a slot for an ID, from now on for a whole lease.
func (t *transaction) holdSlot(id int64) {
	t.s.Slots = append(release(t.s.Slots, id), Lease{id, t.now + LeaseFor})
}

// freeSlot frees the slot of the attempt that a report or the end of a run is about.
func (t *transaction) freeSlot() {
	if t.r.Pass.Slot {
		t.s.Slots = release(t.s.Slots, t.r.Pass.ID)
	}
}

// Lease is something that is held until a time, in milliseconds.
type Lease struct {
	ID, Until int64
}

// expire removes the leases that have run out, in place, and returns those that are left.
func expire(leases []Lease, now int64) []Lease {
	return slices.DeleteFunc(leases, func(l Lease) bool { return l.Until <= now })
}

// release removes the leases of an ID, in place, and returns those that are left.
func release(leases []Lease, id int64) []Lease {
	return slices.DeleteFunc(leases, func(l Lease) bool { return l.ID == id })
}

// clampLeases shortens leases that a clock that was ahead made too long.
func clampLeases(leases []Lease, longest int64) {
	for i := range leases {
		leases[i].Until = min(leases[i].Until, longest)
	}
}
