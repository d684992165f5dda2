package admission

// This file is what an attempt holds while it runs: a slot, and a place of a half-open
// breaker. What is held by a lease is renewed until the attempt has ended.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/guard"
)

// Pass is one attempt that was admitted. Nil is one of a run without guards.
type Pass struct {
	gate   *Gate
	held   guard.Pass
	taken  receipt  // by the retry or copy
	before *receipt // Gate.last from before this pass
	lock   guard.Lock
	from   Named  // gets the report; its Store is nil for none
	stop   func() // ends the renewals
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

// renewEvery is the interval of renewals: two of a lease may be late or lost.
const renewEvery = guard.LeaseFor / 3 * time.Millisecond

// keep renews what is held by a lease until stop returns. That of a Memory does not end.
func (p *Pass) keep() {
	held := p.leased()
	if _, lasts := p.from.Store.(*Memory); lasts || p.from.Store == nil || !held.Place && !held.Slot {
		return
	}
	c, from := p.gate.Config, p.from
	over, stopped, ticker := make(chan struct{}), make(chan struct{}), time.NewTicker(renewEvery)
	p.stop = func() { ticker.Stop(); close(over); <-stopped }
	go func() {
		defer close(stopped)
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				ctx, cancel := limited(context.Background(), c.Timeout)
				// A renewal that fails is repeated at the next interval.
				_, _, _ = from.Do(ctx, c.Key, &c.Guards, &guard.Request{Op: guard.Renew, Pass: held, Held: -1})
				cancel()
			}
		}
	}()
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
	if p.stop != nil {
		p.stop() // a renewal after the report would take the slot again
	}
	g, held := p.gate, p.leased()
	counts := outcome != guard.Neither && (g.Guards.Breaker.Named() || g.Guards.Adaptive)
	if p.from.Store != nil && (counts || held.Place || held.Slot) {
		g.report(p.from, g.Timeout, &guard.Request{Op: guard.Report, Pass: held, Outcome: outcome})
	}
	if p.lock != nil { // after the outcome, which may open a breaker
		p.lock.Unlock()
	}
	p.from, p.lock, p.stop = Named{}, nil, nil
}

// Drop is called in place of Report for an attempt that was not started: it frees what the
// attempt held, and gives back what it took.
func (p *Pass) Drop() {
	if p != nil {
		p.Report(guard.Neither)
		p.gate.giveBack(p.taken)
		p.gate.last = p.before
	}
}
