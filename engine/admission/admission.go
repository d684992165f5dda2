// Package admission asks the guards of a key for a run, in the order of docs/guards.md,
// reports outcomes to them, and decides what to do when their store cannot be used.
//
// It keeps what a run holds: what its last retry took, the slot of the run, the leases of
// its attempts. engine/guard decides; a Store keeps the state.
package admission

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
)

// Lock is a slot that the kernel holds.
type Lock = interface {
	Descriptor() uintptr
	Unlock()
}

// Store answers one request on one key as one transaction. It returns soon after ctx is
// done. A slot that the kernel holds is returned as a Lock.
type Store interface {
	Do(ctx context.Context, key string, g *guard.Guards, r *guard.Request) (guard.Answer, Lock, error)
}

// Health counts consecutive failures of stores, by name.
type Health interface {
	LeaveAlone(name string) bool
	Failed(ctx context.Context, name string) error
	Succeeded(ctx context.Context, name string) error
}

// Named is a store and its address for a person, without a password.
type Named struct {
	Store
	Name string
}

// Config is what a gate asks and where.
type Config struct {
	Key    string
	Guards guard.Guards
	// Primary is used until it fails, then Host. The Store of Host is nil if there is none,
	// or if it is Primary.
	Primary, Host Named
	// Health counts failures of Primary; nil counts none.
	Health Health
	// Closed refuses if the store cannot be used.
	Closed bool
	// Timeout limits each transaction; 0 is none.
	Timeout time.Duration
	// Clock is the time; nil is the system's.
	Clock *engine.Clock
	// Random returns 64 random bits.
	Random func() uint64
	// Emit gets changes of the breaker and failures of the store.
	Emit func(event.Event)
}

// limited is ctx with a time limit, 0 for none.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// Gate is the engine.Gate of one run.
type Gate struct {
	c *Config
	// store is the one in use; its Store is nil if the run continues without guards.
	store  Named
	probed bool // Primary was used once
	warned bool
	// slow says that a signal or the deadline ended the last request before its answer.
	slow bool
	// valuesLost says that the store failed to share values of rotated names.
	valuesLost bool
	// taken is what the last Permit took and was not given back, last what the last
	// retry or copy took.
	taken, last receipt
	// admitted and retried say that an attempt, and a retry or copy, was admitted.
	admitted, retried bool
	// run holds the slot of the run.
	run   *pass
	notes notes
}

// receipt is what was taken, and from which store.
type receipt struct {
	guard.Taken
	from Store
}

var _ engine.Gate = (*Gate)(nil)

// New returns the gate of one run. It touches no store yet.
func New(c *Config) *Gate { return &Gate{c: c, store: c.Primary} }

// Permit asks before the wait of a retry.
func (g *Gate) Permit(ctx context.Context, a engine.Ask) *event.GuardRefused {
	c := &g.c.Guards
	if !c.Breaker.Named() && !c.Budget.On && c.Tokens.Capacity == 0 && !c.Adaptive {
		return nil
	}
	reply := g.ask(ctx, &guard.Request{Op: guard.Permit, Attempt: int64(a.Attempt), TimedOut: a.TimedOut})
	if reply.refusal == nil {
		g.taken = receipt{reply.Taken, reply.from}
	}
	return reply.refusal
}

// withdrawLimit is the limit of giving back, graceLimit that of a wait for an answer that
// is not needed: a run that is cancelled in a wait ends within 50 ms.
const withdrawLimit, graceLimit = 40 * time.Millisecond, 20 * time.Millisecond

// Withdraw gives back what the last Permit took, unless the store is too slow.
func (g *Gate) Withdraw() {
	t := g.taken
	g.taken = receipt{}
	g.giveBack(t)
}

func (g *Gate) giveBack(t receipt) {
	if t.from == nil || !t.Budget && t.Cost == 0 || g.slow {
		return
	}
	ctx, cancel := limited(context.Background(), min(g.c.Timeout, withdrawLimit))
	defer cancel()
	_, _, err := t.from.Do(ctx, g.c.Key, &g.c.Guards, &guard.Request{Op: guard.Withdraw, Taken: t.Taken})
	g.emitNotes()
	if err != nil && ctx.Err() == nil {
		g.lost(t.from, err, "what the retry took is not given back")
	}
}

// Admit asks for the attempt that is about to start. It waits for a slot as long as
// --max-concurrent says, and not beyond ctx.
func (g *Gate) Admit(ctx context.Context, a engine.Ask) (engine.Pass, *event.GuardRefused) {
	begun, reported := g.c.Clock.Now(), ""
	until := begun.Add(time.Duration(g.c.Guards.Slots.Wait) * time.Millisecond)
	for wait := firstPoll; ; wait = min(wait*3/2, longestPoll) {
		pass, refusal, left := g.Try(ctx, a, until)
		if left <= 0 {
			return pass, refusal
		}
		if refusal.Reason != reported && g.c.Clock.Now().Sub(begun) >= reportAfter {
			reported = refusal.Reason
			g.c.Emit(&event.SlotPending{Reason: reported, Left: left})
		}
		select {
		case <-g.c.Clock.After(min(wait/2+time.Duration(g.c.Random()%uint64(wait)), left)):
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
func (g *Gate) Try(ctx context.Context, a engine.Ask, until time.Time) (engine.Pass, *event.GuardRefused, time.Duration) {
	p, c, retry, slot := g.unasked(), &g.c.Guards, a.Attempt > 1, g.wantsSlot(a.Attempt)
	if c.Breaker.Named() || slot || c.Budget.On && !retry {
		left := until.Sub(g.c.Clock.Now())
		r := &guard.Request{Op: guard.Admit, Attempt: int64(a.Attempt), ID: g.id(), Slot: slot, Waiting: slot && left > 0, Held: -1}
		if g.taken.from == g.store.Store {
			r.Taken = g.taken.Taken
		}
		reply := g.ask(ctx, r)
		switch {
		case reply.refusal == nil:
			p.held, p.lock, p.from = reply.Pass, reply.lock, reply.from
		case r.Waiting && reply.Refusal.Guard == guard.KindSlots:
			return nil, reply.refusal, left
		default:
			if reply.made {
				g.taken = receipt{} // given back in the same transaction
			}
			return nil, reply.refusal, 0
		}
	}
	if slot && c.Slots.Of == guard.OfRuns {
		g.run = p.splitSlot()
	}
	g.admit(p, g.taken, retry)
	g.admitted, g.taken = true, receipt{}
	return p, nil, 0
}

// unasked is the pass of an attempt that needs no answer of a guard. Generations are
// times, so that an outcome from before a later reset of the key is recognised.
func (g *Gate) unasked() *pass {
	return &pass{gate: g, from: g.store.Store, held: guard.Pass{Generation: g.c.Clock.Now().UnixMilli()}}
}

// admit completes the pass of an attempt or copy, and records what the success of the run
// gives back.
func (g *Gate) admit(p *pass, taken receipt, retry bool) {
	p.taken, p.before, p.retried = taken, g.last, g.retried
	if retry {
		g.retried, g.last = true, taken
	}
	p.keep()
}

// wantsSlot reports whether an attempt takes a slot. The slot of a run is taken once.
func (g *Gate) wantsSlot(attempt int) bool {
	s := &g.c.Guards.Slots
	return s.N > 0 && (s.Of == guard.OfAttempts || s.Of == guard.OfRetries && attempt > 1 || s.Of == guard.OfRuns && attempt == 1)
}

// AdmitCopy asks for a copy beside an attempt that runs.
func (g *Gate) AdmitCopy(ctx context.Context, a engine.Ask) (engine.Pass, *event.GuardRefused) {
	p, c := g.unasked(), &g.c.Guards
	slot := c.Slots.N > 0 && c.Slots.Of != guard.OfRuns
	if !c.Breaker.Named() && !c.Budget.On && c.Tokens.Capacity == 0 && !slot {
		return p, nil
	}
	r := &guard.Request{Op: guard.AdmitCopy, Attempt: int64(a.Attempt), TimedOut: a.TimedOut, ID: g.id(), Slot: slot, Held: -1}
	reply := g.ask(ctx, r)
	if reply.refusal != nil {
		return nil, reply.refusal
	}
	p.held, p.lock, p.from = reply.Pass, reply.lock, reply.from
	g.admit(p, receipt{reply.Taken, reply.from}, true)
	return p, nil
}

// Finish reports the end of the run.
func (g *Gate) Finish(succeeded bool) {
	g.Withdraw()
	if g.run != nil {
		g.run.Report(guard.Neither)
	}
	if !succeeded || !g.admitted || g.c.Guards.Tokens.Capacity == 0 {
		return
	}
	request := &guard.Request{Op: guard.Finish, Attempt: 1, Succeeded: true}
	from := g.store.Store
	if g.retried {
		request.Attempt, request.Taken, from = 2, g.last.Taken, g.last.from
	}
	if from != nil {
		g.report(from, request)
	}
}

func (g *Gate) id() int64 { return int64(g.c.Random()>>11) | 1 }
