package simulate

// This file asks the guards that all clients share: the gates of runs, over one
// store in memory and the simulation's own time. A client that waits for a slot asks
// again when one is free, in order; a run polls.

import (
	"context"
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
)

// guarded is what the guards of all clients share, and the clients that wait for a
// slot.
type guarded struct {
	clock   *clock
	store   *admission.Memory
	slots   int64
	changed bool     // the breaker, in the last request
	holders []holder // by client
	waiting []int32  // for a slot, in order
}

// holder is what one client holds.
type holder struct {
	gate   *admission.Gate
	pass   engine.Pass
	asking *admission.Asking // for a slot, nil where it does not wait
	until  time.Duration     // the end of that wait
}

// epoch is when a simulation begins, in milliseconds since the Unix epoch: a
// multiple of every usual window.
const epoch = 1_800_000_000_000

// clock is the time of the simulation. Repeated calls are entries of the agenda.
type clock struct {
	herd    *herd
	tickers []ticker
}

type ticker struct {
	every time.Duration
	call  func() // nil once it is stopped
}

// Now is the time of what happens now.
func (c *clock) Now() time.Time { return time.UnixMilli(epoch).Add(c.herd.End) }

// After is never asked for: the clients wait in the agenda.
func (c *clock) After(time.Duration) <-chan time.Time { return nil }

// Every calls f each time that d has passed, until it is stopped.
func (c *clock) Every(d time.Duration, f func()) (stop func()) {
	i := len(c.tickers)
	c.tickers = append(c.tickers, ticker{d, f})
	c.herd.agenda.enter(c.herd.End+d, int32(i), leaseRenews)
	return func() { c.tickers[i].call = nil }
}

func (c *clock) tick(i int32) {
	if t := &c.tickers[i]; t.call != nil {
		t.call()
		c.herd.agenda.enter(c.herd.End+t.every, i, leaseRenews)
	}
}

// guard makes the gates of the clients. A first call has ended when it begins, and
// so holds no slot of its own.
func (h *herd) guard(g guard.Guards) {
	if g.Slots.Of == guard.OfAttempts {
		g.Slots.Of = guard.OfRetries
	}
	clock := &clock{herd: h}
	h.guarded = &guarded{clock: clock, store: &admission.Memory{Clock: clock}, slots: g.Slots.N, holders: make([]holder, len(h.clients))}
	ids := uint64(0)
	config := admission.Config{
		Guards: g, Primary: admission.Named{Store: h.guarded.store}, Clock: clock,
		Random: func() uint64 { ids++; return ids << 12 }, // of which the gate takes the first 53 bits
		Emit: func(e event.Event) {
			h.guarded.changed = h.guarded.changed || e.Kind() == (*event.BreakerChanged)(nil).Kind()
		},
	}
	for i := range h.guarded.holders {
		h.guarded.holders[i].gate = admission.New(config)
	}
}

// admit asks for the next call of a client. Where it is not admitted, it
// waits for a slot, or its run has ended.
func (h *herd) admit(now time.Duration, who int32) bool {
	if h.guarded == nil {
		return true
	}
	holder := &h.guarded.holders[who]
	asking := holder.asking
	if asking == nil {
		asking = holder.gate.Ask(engine.Ask{Attempt: h.clients[who].state.Attempt})
	}
	pass, refusal, left := asking.Try(context.Background())
	if left > 0 {
		h.waitForSlot(now, who, asking, left)
		return false
	}
	holder.asking, holder.pass = nil, pass
	if refusal != nil {
		h.refuse(now, who, refusal)
	}
	return refusal == nil
}

// waitForSlot makes a client wait for a slot, or wait on.
func (h *herd) waitForSlot(now time.Duration, who int32, asking *admission.Asking, left time.Duration) {
	holder := &h.guarded.holders[who]
	if holder.asking != nil {
		return
	}
	holder.asking, holder.until = asking, now+left
	if d := h.policy.Deadline; d > 0 {
		holder.until = min(holder.until, d)
	}
	h.guarded.waiting = append(h.guarded.waiting, who)
	h.agenda.enter(holder.until, who, slotTimesOut)
}

// endSlotWait ends a wait for a slot that was not free in time.
func (h *herd) endSlotWait(now time.Duration, who int32) {
	holder := &h.guarded.holders[who]
	switch d := h.policy.Deadline; {
	case holder.asking == nil || holder.until != now:
	case d > 0 && now >= d:
		holder.asking = nil
		holder.gate.Withdraw()
		h.GaveUp++
		h.leave(now, who, false)
	default:
		h.tryAgain(now, who)
	}
}

// tryAgain asks for a client that waits for a slot.
func (h *herd) tryAgain(now time.Duration, who int32) {
	if h.guarded.holders[who].asking != nil && h.admit(now, who) {
		h.call(now, who)
	}
}

// wake admits clients that have waited for a slot, in order.
func (h *herd) wake(now time.Duration) {
	g := h.guarded
	for len(g.waiting) > 0 && g.store.Held() < g.slots {
		who := g.waiting[0]
		g.waiting = g.waiting[1:]
		h.tryAgain(now, who)
	}
}

// report gives the gate the result of a call, and asks for the next where one
// follows. It returns whether the run goes on. A breaker that has changed may end
// the wait for a slot.
func (h *herd) report(now time.Duration, who int32, d *engine.Decision, r attempt.Result) bool {
	g := h.guarded
	if g == nil {
		return d.Retry
	}
	holder := &g.holders[who]
	g.changed = false
	holder.pass.Report(d.Counts)
	if g.changed {
		for _, waiter := range g.waiting {
			h.tryAgain(now, waiter)
		}
		g.waiting = slices.DeleteFunc(g.waiting, func(who int32) bool { return g.holders[who].asking == nil })
	}
	h.wake(now)
	if !d.Retry {
		return false
	}
	refusal := holder.gate.Permit(context.Background(), engine.Ask{Attempt: h.clients[who].state.Attempt + 1, TimedOut: r.TimedOut})
	if refusal != nil {
		h.refuse(now, who, refusal)
	}
	return refusal == nil
}

// refuse ends a run that a guard refuses.
func (h *herd) refuse(now time.Duration, who int32, r *engine.Refusal) {
	h.Refused++
	h.RefusedBy[r.Guard]++
	h.leave(now, who, false)
}

// leave gives back what a run that has ended holds.
func (h *herd) leave(now time.Duration, who int32, succeeded bool) {
	if h.guarded != nil {
		h.guarded.holders[who].gate.Finish(succeeded)
		h.wake(now)
	}
}
