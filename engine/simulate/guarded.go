package simulate

// This file asks the guards that all clients share, in the order of a run: Admit
// before each call, Report after it, Permit before a wait. They decide over the
// simulation's own time.

import (
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/guard"
)

// gate is the state of the guards, and who waits for a slot.
type gate struct {
	guards  guard.Guards
	state   guard.State
	holders []holder // by client
	slots   int64    // that are held
	waiting []int32  // for a slot, in order
}

// holder is what one client holds.
type holder struct {
	call, run guard.Pass
	taken     guard.Taken
	waits     bool
	until     time.Duration // the end of the wait for a slot
}

// epoch is when a simulation begins, in milliseconds since the Unix epoch: a
// multiple of every usual window.
const epoch = 1_800_000_000_000

// renewEvery is how often a run renews its leases.
const renewEvery = guard.LeaseFor / 3 * time.Millisecond

// ask is one transaction on the guards' state.
func (g *gate) ask(r guard.Request, now time.Duration) guard.Answer {
	r.Held = g.slots
	return guard.Do(&g.guards, &g.state, &r, epoch+now.Milliseconds())
}

// wantsSlot says whether an attempt has to have a slot of its own. A first call
// has ended when it begins, and so holds one only where slots are of runs.
func (g *gate) wantsSlot(number int) bool {
	switch {
	case g.guards.Slots.N == 0:
		return false
	case g.guards.Slots.Of == guard.OfRuns:
		return number == 1
	}
	return number > 1
}

// admit asks for the next call of a client. Where it is not let through, it
// waits for a slot, or its run has ended.
func (h *herd) admit(now time.Duration, who int32) bool {
	g := h.gate
	if g == nil {
		return true
	}
	c, holder := &h.clients[who], &g.holders[who]
	number := c.state.Attempt
	a := g.ask(guard.Request{
		Op: guard.Admit, Attempt: int64(number), ID: int64(who) + 1, Slot: g.wantsSlot(number),
		Waiting: g.guards.Slots.Wait > 0, Taken: holder.taken,
	}, now)
	if a.Refusal.Guard == guard.KindSlots && g.guards.Slots.Wait > 0 {
		h.await(now, who)
		return false
	}
	holder.waits = false
	if a.Refusal.Guard != guard.None {
		h.refuse(now, who, a.Refusal.Guard)
		return false
	}
	h.pass(now, who, a.Pass)
	return true
}

// pass hands over what a call holds.
func (h *herd) pass(now time.Duration, who int32, pass guard.Pass) {
	holder := &h.gate.holders[who]
	if pass.Slot {
		h.gate.slots++
	}
	if pass.Slot && h.gate.guards.Slots.Of == guard.OfRuns {
		holder.run, pass.Slot = pass, false
	}
	if pass.Place {
		h.agenda.enter(now+renewEvery, who, renews)
	}
	holder.call = pass
}

// await lets a client wait for a slot, or go on waiting.
func (h *herd) await(now time.Duration, who int32) {
	g := h.gate
	holder := &g.holders[who]
	if holder.waits {
		return
	}
	holder.waits = true
	holder.until = now + time.Duration(g.guards.Slots.Wait)*time.Millisecond
	if d := h.policy.Deadline; d > 0 {
		holder.until = min(holder.until, d)
	}
	g.waiting = append(g.waiting, who)
	h.agenda.enter(holder.until, who, tires)
}

// tire ends a wait for a slot that has been in vain.
func (h *herd) tire(now time.Duration, who int32) {
	holder := &h.gate.holders[who]
	if !holder.waits || holder.until != now {
		return
	}
	holder.waits = false
	h.gate.ask(guard.Request{Op: guard.Withdraw, Taken: holder.taken}, now)
	if d := h.policy.Deadline; d > 0 && now >= d {
		h.GaveUp++
		h.leave(now, who, false)
		return
	}
	h.refuse(now, who, guard.KindSlots)
}

// wake lets those through who have waited for a slot, in order.
func (h *herd) wake(now time.Duration) {
	g := h.gate
	for len(g.waiting) > 0 && g.slots < g.guards.Slots.N {
		who := g.waiting[0]
		g.waiting = g.waiting[1:]
		if g.holders[who].waits && h.admit(now, who) {
			h.call(now, who)
		}
	}
}

// warn asks again for all who wait for a slot: a breaker that has opened ends
// their wait.
func (h *herd) warn(now time.Duration) {
	g := h.gate
	for _, who := range g.waiting {
		if g.holders[who].waits && h.admit(now, who) {
			h.call(now, who)
		}
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(who int32) bool { return !g.holders[who].waits })
}

// renew keeps a probe's place while its call is under way.
func (h *herd) renew(now time.Duration, who int32) {
	c, holder := &h.clients[who], &h.gate.holders[who]
	if c.calling && holder.call.Place {
		h.gate.ask(guard.Request{Op: guard.Renew, Pass: holder.call}, now)
		h.agenda.enter(now+renewEvery, who, renews)
	}
}

// report tells what came of a call, and asks for the next where one follows. It
// returns whether the run goes on.
func (h *herd) report(now time.Duration, who int32, d *engine.Decision, r attempt.Result) bool {
	g := h.gate
	if g == nil {
		return d.Retry
	}
	holder := &g.holders[who]
	outcome := guard.Neither
	switch d.Counts {
	case engine.CountsSuccess:
		outcome = guard.Success
	case engine.CountsFailure:
		outcome = guard.Failure
	}
	a := g.ask(guard.Request{Op: guard.Report, Pass: holder.call, Outcome: outcome}, now)
	if holder.call.Slot {
		g.slots--
	}
	holder.call = guard.Pass{}
	if a.From != a.To {
		h.warn(now)
	}
	h.wake(now)
	return d.Retry && h.permit(now, who, r.TimedOut)
}

// permit asks before a wait.
func (h *herd) permit(now time.Duration, who int32, timedOut bool) bool {
	g := h.gate
	a := g.ask(guard.Request{Op: guard.Permit, Attempt: int64(h.clients[who].state.Attempt) + 1, TimedOut: timedOut}, now)
	if a.Refusal.Guard != guard.None {
		h.refuse(now, who, a.Refusal.Guard)
		return false
	}
	g.holders[who].taken = a.Taken
	return true
}

// refuse ends a run that a guard refuses.
func (h *herd) refuse(now time.Duration, who int32, by guard.Kind) {
	h.Refused++
	h.RefusedBy[by]++
	h.leave(now, who, false)
}

// leave gives back what a run that has ended holds.
func (h *herd) leave(now time.Duration, who int32, succeeded bool) {
	g := h.gate
	if g == nil {
		return
	}
	holder := &g.holders[who]
	g.ask(guard.Request{
		Op: guard.Finish, Attempt: int64(h.clients[who].state.Attempt), Succeeded: succeeded, Taken: holder.taken, Pass: holder.run,
	}, now)
	if holder.run.Slot {
		holder.run.Slot = false
		g.slots--
		h.wake(now)
	}
}
