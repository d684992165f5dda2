package admission

// This file is what an attempt holds while it runs: a slot, and a place of a half-open
// breaker. What is held by a lease is renewed until the attempt has ended.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/guard"
)

// pass is one attempt that was admitted.
type pass struct {
	gate  *Gate
	held  guard.Pass
	taken receipt // by the retry or copy
	// before and retried are Gate.last and Gate.retried from before this pass.
	before  receipt
	retried bool
	lock    Lock
	from    Store  // gets the report; nil for none
	stop    func() // ends the renewals
}

// splitSlot moves the slot of an attempt to a pass of the run.
func (p *pass) splitSlot() *pass {
	run := &pass{gate: p.gate, lock: p.lock, from: p.from, held: guard.Pass{ID: p.held.ID, Slot: p.held.Slot}}
	p.lock, p.held.Slot = nil, false
	run.keep()
	return run
}

// leased is what is held by a lease: not a slot that the kernel holds.
func (p *pass) leased() guard.Pass {
	held := p.held
	held.Slot = held.Slot && p.lock == nil
	return held
}

// renewEvery is the interval of renewals: two of a lease may be late or lost.
const renewEvery = guard.LeaseFor / 3 * time.Millisecond

// keep renews what is held by a lease until stop returns. That of a Memory does not end.
func (p *pass) keep() {
	held := p.leased()
	if _, lasts := p.from.(*Memory); lasts || p.from == nil || !held.Place && !held.Slot {
		return
	}
	c, from := p.gate.c, p.from
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
func (p *pass) Inherit() []uintptr {
	var fds []uintptr
	for _, held := range []*pass{p, p.gate.run} {
		if held == nil || held.lock == nil {
			continue
		}
		if fd := held.lock.Descriptor(); fd != noDescriptor {
			fds = append(fds, fd)
		}
	}
	return fds
}

// Report reports the outcome of the attempt, and frees what it held.
func (p *pass) Report(outcome guard.Outcome) {
	if p.stop != nil {
		p.stop() // a renewal after the report would take the slot again
	}
	g, held := p.gate, p.leased()
	counts := outcome != guard.Neither && (g.c.Guards.Breaker.Named() || g.c.Guards.Adaptive)
	if p.from != nil && (counts || held.Place || held.Slot) {
		g.report(p.from, &guard.Request{Op: guard.Report, Pass: held, Outcome: outcome})
	}
	if p.lock != nil { // after the outcome, which may open a breaker
		p.lock.Unlock()
	}
	p.from, p.lock, p.stop = nil, nil, nil
}

// Drop frees what an attempt held that was not started, and gives back what it took.
func (p *pass) Drop() {
	g, taken := p.gate, p.taken
	p.Report(guard.Neither)
	g.giveBack(taken)
	g.retried, g.last = p.retried, p.before
}
