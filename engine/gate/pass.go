package gate

// This file is what an attempt holds while it runs: a slot, and a probe's place.
// What is held by a lease is renewed until the attempt has ended.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/guard"
)

// pass is one attempt that was let through. Its goroutine, if it has one, owns
// the leases until stop is closed and stopped is.
type pass struct {
	gate  *Gate
	held  guard.Pass
	taken receipt // by the retry or copy
	// before and retried are what the gate knew of the last retry before it.
	before  receipt
	retried bool
	lock    Lock
	from    Store // nil: nobody is told
	stop    chan struct{}
	stopped chan struct{}
}

// renewEvery is how often a lease is renewed: two may be late or lost.
const renewEvery = guard.LeaseFor / 3 * time.Millisecond

func (p *pass) hold(held guard.Pass, lock Lock, from Store) {
	p.held, p.lock, p.from = held, lock, from
}

// splitSlot takes the slot away from an attempt, for the run to hold.
func (p *pass) splitSlot() *pass {
	run := &pass{gate: p.gate, lock: p.lock, from: p.from, held: guard.Pass{ID: p.held.ID, Slot: p.held.Slot}}
	p.lock, p.held.Slot = nil, false
	run.keep()
	return run
}

// leased is what is held by a lease: a slot is not where the kernel holds it.
func (p *pass) leased() guard.Pass {
	held := p.held
	held.Slot = held.Slot && p.lock == nil
	return held
}

// keep renews what is held by a lease.
func (p *pass) keep() {
	if held := p.leased(); p.from != nil && (held.Place || held.Slot) {
		p.stop, p.stopped = make(chan struct{}), make(chan struct{})
		go p.renew(held)
	}
}

func (p *pass) renew(held guard.Pass) {
	defer close(p.stopped)
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
		}
		// A renewal that fails is tried again at the next tick.
		ctx, cancel := context.WithTimeout(context.Background(), p.gate.c.Timeout)
		_, _, _ = p.from.Do(ctx, p.gate.c.Key, &p.gate.c.Guards, &guard.Request{Op: guard.Renew, Pass: held, Held: -1})
		cancel()
	}
}

// Inherit are the descriptors of the slots that the command holds with us.
func (p *pass) Inherit() []uintptr {
	var fds []uintptr
	for _, held := range []*pass{p, p.gate.run} {
		if held != nil && held.lock != nil {
			fds = append(fds, held.lock.Descriptor())
		}
	}
	return fds
}

// Report tells what came of the attempt, and frees what it held.
func (p *pass) Report(counted engine.Counted) {
	if p.stop != nil {
		close(p.stop)
		<-p.stopped // a renewal that came after the report would take the slot again
	}
	g, held := p.gate, p.leased()
	outcome := guard.Neither
	switch counted {
	case engine.CountsSuccess:
		outcome = guard.Success
	case engine.CountsFailure:
		outcome = guard.Failure
	}
	counts := outcome != guard.Neither && (g.c.Guards.Breaker.Named() || g.c.Guards.Adaptive)
	if p.from != nil && (counts || held.Place || held.Slot) {
		g.tell(p.from, &guard.Request{Op: guard.Report, Pass: held, Outcome: outcome})
	}
	if p.lock != nil { // after the outcome, which may open a breaker
		p.lock.Unlock()
	}
	p.from, p.lock, p.stop = nil, nil, nil
}

// Drop frees what an attempt held that was not started, and gives back what it
// took.
func (p *pass) Drop() {
	g, taken := p.gate, p.taken
	p.Report(engine.CountsNot)
	g.giveBack(taken)
	g.retried, g.last = p.retried, p.before
}
