package simulate

// This file is the client's side of the guards. Each client has the gate of a run,
// over one store in memory. Only the wait for a slot differs: a run polls, a client
// asks again as soon as a slot is free, in the order of arrival.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
)

// guards are the state that all clients share.
type guards struct {
	store   *admission.Memory
	slots   guard.Slots
	changed bool    // the breaker has changed
	waiting []int32 // for a slot, in order
}

// begin returns a function that makes the gate of a client, nil without guards. now is the
// simulated time.
func (s *guards) begin(g guard.Guards, now func() time.Time) func() *admission.Gate {
	if !g.Any() {
		return func() *admission.Gate { return nil }
	}
	if g.Slots.Of == guard.OfAttempts { // a first call takes no time, and so no slot
		g.Slots.Of = guard.OfRetries
	}
	s.store = &admission.Memory{Now: now}
	s.slots = g.Slots
	ids := uint64(0)
	config := &admission.Config{
		Guards: g, Primary: admission.Named{Store: s.store}, Now: now,
		Random: func() uint64 { ids++; return ids << 12 }, // the gate uses the upper 53 bits
	}
	emit := func(e event.Event) {
		_, changed := e.(*event.BreakerChanged)
		s.changed = s.changed || changed
	}
	return func() *admission.Gate { return admission.New(config, emit) }
}

// admit asks for the next call of a client. A client that is not admitted waits for its turn
// or a slot, or its run has ended. The first calls, at time 0, are not held back by a rate limit.
func (h *herd) admit(now time.Duration, who int32) bool {
	c := &h.clients[who]
	if c.gate == nil {
		return true
	}
	if c.pass == nil {
		c.pass = c.gate.First()
		c.pass.SkipTurn()
	}
	first := c.until == 0
	if first {
		c.until = now + time.Duration(h.guards.slots.Wait)*time.Millisecond
	}
	refusal, left := c.gate.TryTurn(context.Background(), c.pass, c.state.Deadline)
	switch {
	case left > 0 && refusal == nil:
		c.until = 0
		h.agenda.enter(backoff.Add(now, left), who, begins)
		return false
	case left > 0:
		if first {
			h.agenda.enter(h.slotLimit(c), who, slotTimesOut)
		}
		h.guards.waiting = append(h.guards.waiting, who)
		return false
	}
	c.until = 0
	if refusal != nil && refusal.PastDeadline {
		h.giveUp(now, c)
		return false
	}
	return h.goesOn(now, c, refusal)
}

// slotLimit is when a wait for a slot ends: at its own limit or the deadline.
func (h *herd) slotLimit(c *client) time.Duration {
	if d := h.policy.Deadline; d > 0 {
		return min(c.until, d)
	}
	return c.until
}

// endSlotWait ends a wait for a slot at its limit.
func (h *herd) endSlotWait(now time.Duration, who int32) {
	c := &h.clients[who]
	switch d := h.policy.Deadline; {
	case c.until == 0 || now < h.slotLimit(c): // it has got its slot
	case d > 0 && now >= d:
		c.until = 0
		h.OutOfTime++
		h.giveUp(now, c)
	default:
		h.begin(now, who)
	}
}

// wake has clients that wait for a slot ask again, in order: all of them, or as many
// as there are free slots.
func (h *herd) wake(now time.Duration, all bool) {
	queue := h.guards.waiting
	h.guards.waiting = nil
	for ; len(queue) > 0 && (all || h.guards.store.Held() < h.guards.slots.N); queue = queue[1:] {
		if who := queue[0]; h.clients[who].until > 0 {
			h.begin(now, who)
		}
	}
	h.guards.waiting = append(queue, h.guards.waiting...)
}

// permit asks for a retry, before its wait.
func (h *herd) permit(now time.Duration, c *client, timedOut bool) bool {
	if c.gate == nil {
		return true
	}
	pass, refusal := c.gate.Permit(context.Background(), c.state.Attempt+1, timedOut)
	c.pass = pass
	return h.goesOn(now, c, refusal)
}

// goesOn reports whether no guard refused; else the run ends.
func (h *herd) goesOn(now time.Duration, c *client, refusal *event.GuardRefused) bool {
	if refusal != nil {
		h.Refused++
		h.RefusedBy[refusal.Guard]++
		h.leave(now, c, false)
	}
	return refusal == nil
}

// leave gives back what a run that has ended holds.
func (h *herd) leave(now time.Duration, c *client, succeeded bool) {
	if c.gate != nil {
		c.pass.Drop() // of a call that was not made
		c.gate.Finish(succeeded)
		h.wake(now, false)
	}
}
