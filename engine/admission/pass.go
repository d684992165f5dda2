package admission

// This file is what an attempt takes and holds: what a retry costs, a turn, a slot, and a place
// of a half-open breaker. What is held by a lease is renewed until the attempt has ended.

import (
	"context"
	"fmt"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
)

// Pass is one attempt: asked for, then admitted, then reported or dropped. Nil is one of a run
// without guards.
type Pass struct {
	gate    *Gate
	attempt int
	retry   bool // or a copy
	cost    retryCost
	// hasTurn says that its turn is now, or at the time turn.
	hasTurn bool
	turn    time.Time
	// turnUntil and slotUntil are the ends of its waits for a turn and a slot; the zero time
	// is before the first asking.
	turnUntil, slotUntil time.Time
	id                   int64 // of what it holds, 0 before the first asking

	held guard.Pass
	lock guard.Lock
	from Named  // gets the report; its Store is nil for none
	stop func() // ends the renewals
}

// Turn is when the attempt may start if a turn is reserved for it; else the zero time.
func (p *Pass) Turn() time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.turn
}

// SkipTurn has the attempt start without a turn.
func (p *Pass) SkipTurn() { p.hasTurn = true }

// begin begins the waits of the first asking, for a turn and for a slot.
func (p *Pass) begin(now time.Time, turn, slot bool) {
	c := &p.gate.Guards
	if p.id == 0 {
		p.id = p.gate.id()
	}
	if turn && p.turnUntil.IsZero() {
		p.turnUntil = now.Add(time.Duration(max(c.RateLimit.Wait, 0)) * time.Millisecond)
	}
	if slot && p.slotUntil.IsZero() {
		p.slotUntil = now.Add(time.Duration(c.Slots.Wait) * time.Millisecond)
	}
}

// passWithoutGuards admits an attempt that needs no answer of a guard. Generations are times, so
// that an outcome from before a later reset of the key is recognised.
func (p *Pass) passWithoutGuards(now time.Time) {
	p.admit(&reply{from: p.gate.store, answer: guard.Answer{Pass: guard.Pass{Generation: now.UnixMilli()}}})
}

// admit completes the pass of an attempt that no guard refused.
func (p *Pass) admit(r *reply) {
	g := p.gate
	p.held = r.answer.Pass
	p.lock = r.lock
	p.from = r.from
	if p.retry {
		g.retries++
		p.cost.number = g.retries
	}
	if p.held.Slot && g.Guards.Slots.Of == guard.OfRuns {
		g.run = p.splitSlot()
	}
	p.keep()
}

// splitSlot moves the slot of an attempt to a pass of the run.
func (p *Pass) splitSlot() *Pass {
	run := &Pass{gate: p.gate, lock: p.lock, from: p.from, held: guard.Pass{ID: p.held.ID, Slot: p.held.Slot}}
	p.lock, p.held.Slot = nil, false
	run.keep()
	return run
}

// leased is what is held by a lease: not a slot that the kernel holds.
func (p *Pass) leased() guard.Pass {
	held := p.held
	held.Slot = held.Slot && p.lock == nil
	return held
}

// A lease is renewed every renewEvery: two renewals may be late. One that fails is repeated
// after repeatAfter.
const (
	lease       = guard.LeaseFor * time.Millisecond
	renewEvery  = lease / 3
	repeatAfter = time.Second
)

// keep renews what is held by a lease until stop returns. That of a Memory does not end.
func (p *Pass) keep() {
	held := p.leased()
	if _, lasts := p.from.Store.(*Memory); lasts || p.from.Store == nil || !held.Place && !held.Slot {
		return
	}
	r := &renewal{
		Config: p.gate.Config, from: p.from, held: held, lost: p.gate.lost,
		over: make(chan struct{}), until: time.Now().Add(lease),
	}
	stopped := make(chan struct{})
	p.gate.leases++
	p.stop = func() { p.gate.leases--; close(r.over); <-stopped }
	go func() { defer close(stopped); r.run() }()
}

// renewal renews one lease.
type renewal struct {
	*Config
	from Named
	held guard.Pass
	lost chan<- *event.StoreFailed
	over chan struct{} // closed when it is not needed any more
	// until is when the lease ends if it is not renewed; told says that this was told.
	until time.Time
	told  bool
}

func (r *renewal) run() {
	timer := time.NewTimer(renewEvery)
	defer timer.Stop()
	for {
		select {
		case <-r.over:
			return
		case <-timer.C:
			timer.Reset(r.renew())
		}
	}
}

// renew renews the lease once, within the time that is left of it, and returns when to renew it
// next. The server's lease begins after the request was sent.
func (r *renewal) renew() time.Duration {
	sent := time.Now()
	ctx, cancel := limited(context.Background(), r.Timeout)
	defer cancel()
	if left := r.until.Sub(sent); !r.told && left > 0 {
		ctx, cancel = context.WithTimeout(ctx, left)
		defer cancel()
	}
	answer, _, err := r.from.Do(ctx, r.Key, &r.Guards, &guard.Request{Op: guard.Renew, Pass: r.held, Held: -1})
	switch {
	case err == nil && answer.Lost:
		r.tell("other runs hold it now")
	case err == nil:
		r.told = false
	case !time.Now().Before(r.until):
		r.tell(fmt.Sprintf("its lease could not be renewed in %v (%v)", lease, err))
	}
	if err == nil {
		r.until = sent.Add(lease)
		return renewEvery
	}
	if left := time.Until(r.until); left > 0 {
		return min(repeatAfter, left)
	}
	return repeatAfter
}

// tell reports once that the slot is lost. A place of the breaker is lost without a word, and
// so is its outcome.
func (r *renewal) tell(why string) {
	if r.told || !r.held.Slot {
		return
	}
	r.told = true
	select {
	case r.lost <- &event.StoreFailed{
		Store: r.from.Name, Reason: fmt.Sprintf("the slot of %q is lost: %s", r.Key, why),
	}:
	default: // the run has yet to read the one before
	}
}

// Inherit are the descriptors of slots that the command inherits.
func (p *Pass) Inherit() (fds []uintptr) {
	if p == nil {
		return nil
	}
	for _, held := range []*Pass{p, p.gate.run} {
		if held == nil {
			continue
		}
		if file, ok := held.lock.(interface{ Descriptor() uintptr }); ok {
			fds = append(fds, file.Descriptor())
		}
	}
	return fds
}

// Report reports the outcome of the attempt, once, and frees what it held.
func (p *Pass) Report(outcome guard.Outcome) {
	if p == nil {
		return
	}
	if g := p.gate; p.cost.number > g.lastCost.number {
		g.lastCost = p.cost
	}
	p.cost = retryCost{}
	p.free(outcome)
}

// Drop is called in place of Report for an attempt that was not started: it frees what the
// attempt held, and gives back what it took, unless the store is too slow. After Report it does
// nothing.
func (p *Pass) Drop() {
	if p == nil {
		return
	}
	p.free(guard.Neither)
	p.gate.refund(p.cost)
	p.cost = retryCost{}
}

func (p *Pass) free(outcome guard.Outcome) {
	if p.stop != nil {
		p.stop() // a renewal after the report would take the slot again
	}
	g := p.gate
	r := guard.Request{Op: guard.Report, Pass: p.leased(), Outcome: outcome}
	if p.from.Store != nil && g.Guards.Need(&r) {
		g.report(p.from, g.Timeout, r)
	}
	if p.lock != nil { // after the outcome, which may open a breaker
		p.lock.Unlock()
	}
	p.from, p.lock, p.stop = Named{}, nil, nil
}

// withdrawLimit is the limit of giving back, graceLimit that of a wait for an answer that
// is not needed: a run that is cancelled in a wait ends within 50 ms.
const withdrawLimit, graceLimit = 40 * time.Millisecond, 20 * time.Millisecond

// refund gives back what a retry took.
func (g *Gate) refund(cost retryCost) {
	if cost.from.Store != nil && (cost.Budget || cost.Cost > 0) && !g.slow {
		g.report(cost.from, min(g.Timeout, withdrawLimit), guard.Request{Op: guard.Withdraw, Taken: cost.Taken})
	}
}
