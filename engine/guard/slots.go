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

// otherSlots are those that are held, but for that of an ID.
func (t *transaction) otherSlots(id int64) []Lease { return release(expire(t.s.Slots, t.now), id) }

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

// clampLeases shortens leases that a clock that was ahead made too long.
func clampLeases(leases []Lease, longest int64) {
	for i := range leases {
		leases[i].Until = min(leases[i].Until, longest)
	}
}
