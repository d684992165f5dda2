// Package admission asks the guards of a key for a run, in the order of docs/guards.md,
// reports outcomes to them, and decides what to do when their store cannot be used.
//
// It keeps what a run holds: what its last retry took, the slot of the run, the leases of
// its attempts. engine/guard decides; a guard.Store keeps the state.
package admission

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
)

// Named is a store and its address for a person, without a password.
type Named struct {
	guard.Store
	Name string
}

// Config is what a gate asks and where.
type Config struct {
	Key    string
	Guards guard.Guards
	// Primary is used until it fails, then Host. The Store of Host is nil if there is none,
	// or if it is Primary.
	Primary, Host Named
	// Closed refuses if the store cannot be used.
	Closed bool
	// Timeout limits each transaction; 0 is none.
	Timeout time.Duration
	// Now is the time of generations and limits; nil is the system's.
	Now func() time.Time
	// Random returns 64 random bits.
	Random func() uint64
	// Emit gets changes of the breaker, waits for a slot, and failures of the store.
	Emit func(event.Event)
	// Notes has messages of stores, also of requests by other goroutines. The next request
	// or report of the run emits them.
	Notes chan event.Event
}

// Gate admits the attempts of one run or refuses them. Its contexts end at the deadline of
// the run and when a signal asks for the end; the gate stops waiting then. Its methods and
// those of its passes are called one at a time.
type Gate struct {
	*Config
	// store is the one in use; its Store is nil if the run continues without guards.
	store  Named
	warned bool
	// slow says that a signal or the deadline ended the last request before its answer.
	slow bool
	// taken is what the last Permit took and was not given back, last what the last
	// retry or copy that was admitted took; nil for none.
	taken receipt
	last  *receipt
	run   *Pass // holds the slot of the run
}

// receipt is what was taken, and from which store.
type receipt struct {
	guard.Taken
	from Named
}

// New returns the gate of one run. It touches no store yet.
func New(c *Config) *Gate {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Gate{Config: c, store: c.Primary}
}

// Permit asks before the wait of a retry, attempt, and takes what a retry costs. timedOut
// says that the attempt before ended by a limit of its own.
func (g *Gate) Permit(ctx context.Context, attempt int, timedOut bool) *event.GuardRefused {
	c := &g.Guards
	if !c.Breaker.Named() && !c.Budget.On && c.Tokens.Capacity == 0 && !c.Adaptive {
		return nil
	}
	reply := g.ask(ctx, &guard.Request{Op: guard.Permit, Attempt: int64(attempt), TimedOut: timedOut})
	if reply.refusal == nil {
		g.taken = receipt{reply.Taken, reply.from}
	}
	return reply.refusal
}

// withdrawLimit is the limit of giving back, graceLimit that of a wait for an answer that
// is not needed: a run that is cancelled in a wait ends within 50 ms.
const withdrawLimit, graceLimit = 40 * time.Millisecond, 20 * time.Millisecond

// Withdraw gives back what the last Permit took, unless the store is too slow. It is called
// when the run makes no more attempts.
func (g *Gate) Withdraw() {
	t := g.taken
	g.taken = receipt{}
	g.giveBack(t)
}

func (g *Gate) giveBack(t receipt) {
	if t.from.Store != nil && (t.Budget || t.Cost > 0) && !g.slow {
		g.report(t.from, min(g.Timeout, withdrawLimit), &guard.Request{Op: guard.Withdraw, Taken: t.Taken})
	}
}

// Admit asks last before an attempt starts, the first included. It waits for a slot as long as
// --max-concurrent says, and not beyond ctx.
func (g *Gate) Admit(ctx context.Context, attempt int) (*Pass, *event.GuardRefused) {
	begun, reported := time.Now(), ""
	until := begun.Add(time.Duration(g.Guards.Slots.Wait) * time.Millisecond)
	for wait := firstPoll; ; wait = min(wait*3/2, longestPoll) {
		pass, refusal, left := g.Try(ctx, attempt, until)
		if left <= 0 {
			return pass, refusal
		}
		if refusal.Reason != reported && time.Since(begun) >= reportAfter {
			reported = refusal.Reason
			g.Emit(&event.SlotPending{Reason: reported, Left: left})
		}
		select {
		case <-time.After(min(wait/2+time.Duration(g.Random()%uint64(wait)), left)):
		case <-ctx.Done():
			return nil, refusal
		}
	}
}

// reportAfter is how long a run waits for a slot before it reports that (docs/logs.md).
const reportAfter = time.Second

// The interval between two polls for a slot grows from firstPoll to longestPoll.
const firstPoll, longestPoll = time.Millisecond, 250 * time.Millisecond

// Try asks once for the attempt that is about to start. Where no slot is free, it returns
// the time that is left until the given one; while that is more than 0, the caller may ask
// again.
func (g *Gate) Try(ctx context.Context, attempt int, until time.Time) (*Pass, *event.GuardRefused, time.Duration) {
	p, c, retry, slot := g.unasked(), &g.Guards, attempt > 1, g.wantsSlot(attempt)
	if c.Breaker.Named() || slot || c.Budget.On && !retry {
		left := until.Sub(g.Now())
		r := &guard.Request{Op: guard.Admit, Attempt: int64(attempt), ID: g.id(), Slot: slot, Waiting: slot && left > 0, Held: -1}
		if g.taken.from == g.store {
			r.Taken = g.taken.Taken
		}
		reply := g.ask(ctx, r)
		switch {
		case reply.refusal == nil:
			p.held, p.lock, p.from = reply.Pass, reply.lock, reply.from
		case r.Waiting && reply.Refusal.Guard == guard.KindSlots:
			return nil, reply.refusal, left
		default:
			if reply.from.Store != nil {
				g.taken = receipt{} // given back in the same transaction
			}
			return nil, reply.refusal, 0
		}
	}
	if slot && c.Slots.Of == guard.OfRuns {
		g.run = p.splitSlot()
	}
	g.admit(p, g.taken, retry)
	g.taken = receipt{}
	return p, nil, 0
}

// unasked is the pass of an attempt that needs no answer of a guard. Generations are
// times, so that an outcome from before a later reset of the key is recognised.
func (g *Gate) unasked() *Pass {
	return &Pass{gate: g, from: g.store, held: guard.Pass{Generation: g.Now().UnixMilli()}}
}

// admit completes the pass of an attempt or copy, and records what the success of the run
// gives back.
func (g *Gate) admit(p *Pass, taken receipt, retry bool) {
	p.taken, p.before = taken, g.last
	if retry {
		g.last = &p.taken
	}
	p.keep()
}

// wantsSlot reports whether an attempt takes a slot. The slot of a run is taken once.
func (g *Gate) wantsSlot(attempt int) bool {
	s := &g.Guards.Slots
	return s.N > 0 && (s.Of == guard.OfAttempts || s.Of == guard.OfRetries && attempt > 1 || s.Of == guard.OfRuns && attempt == 1)
}

// AdmitCopy asks before a further copy of an attempt starts, and takes what a retry costs.
// timedOut is that of Permit, for the copy before.
func (g *Gate) AdmitCopy(ctx context.Context, attempt int, timedOut bool) (*Pass, *event.GuardRefused) {
	p, c := g.unasked(), &g.Guards
	slot := c.Slots.N > 0 && c.Slots.Of != guard.OfRuns
	if !c.Breaker.Named() && !c.Budget.On && c.Tokens.Capacity == 0 && !slot {
		return p, nil
	}
	r := &guard.Request{Op: guard.AdmitCopy, Attempt: int64(attempt), TimedOut: timedOut, ID: g.id(), Slot: slot, Held: -1}
	reply := g.ask(ctx, r)
	if reply.refusal != nil {
		return nil, reply.refusal
	}
	p.held, p.lock, p.from = reply.Pass, reply.lock, reply.from
	g.admit(p, receipt{reply.Taken, reply.from}, true)
	return p, nil
}

// Finish reports the end of the run, whether an attempt succeeded.
func (g *Gate) Finish(succeeded bool) {
	g.Withdraw()
	if g.run != nil {
		g.run.Report(guard.Neither)
	}
	if !succeeded || g.Guards.Tokens.Capacity == 0 {
		return
	}
	r, from := &guard.Request{Op: guard.Finish, Attempt: 1, Succeeded: true}, g.store
	if g.last != nil {
		r.Attempt, r.Taken, from = 2, g.last.Taken, g.last.from
	}
	if from.Store != nil {
		g.report(from, g.Timeout, r)
	}
}

func (g *Gate) id() int64 { return int64(g.Random()>>11) | 1 }
