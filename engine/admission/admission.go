// Package admission asks the guards of a key for a run, in the order of docs/guards.md,
// reports outcomes to them, and decides what to do when their store cannot be used.
//
// A Pass is what an attempt takes and holds; it exists from the asking before its wait to the
// report of its outcome. engine/guard decides; a guard.Store keeps the state.
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

// Config is what gates ask and where. They do not change it.
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
	// Notes has messages of stores, also of requests by other goroutines. The next request
	// or report of the run emits them.
	Notes chan event.Event
}

// Gate admits the attempts of one run or refuses them. Its contexts end at the deadline of
// the run and when a signal asks for the end; the gate stops waiting then. Its methods and
// those of its passes are called one at a time.
type Gate struct {
	*Config
	emit func(event.Event)
	// store is the one in use; its Store is nil if the run continues without guards.
	store  Named
	warned bool
	// outage says that the store failed when it was asked last, and that this was told.
	outage bool
	// slow says that a signal or the deadline ended the last request before its answer.
	slow    bool
	retries int // that were admitted, and copies
	// lastCost is what the one of them that was admitted last took, of those that have ended. Its
	// number is 0 for none.
	lastCost retryCost
	run      *Pass // holds the slot of the run
	leases   int   // that are renewed
	lost     chan *event.StoreFailed
}

// retryCost is what a retry or a copy took from budget and bucket, and of which store.
type retryCost struct {
	guard.Taken
	from   Named
	number int // of the retry or copy among those that were admitted; 0 before
}

// New returns the gate of one run. It touches no store yet. emit gets changes of the breaker, waits
// for a slot or a turn, and failures of the store.
func New(c *Config, emit func(event.Event)) *Gate {
	return &Gate{Config: c, emit: emit, store: c.Primary, lost: make(chan *event.StoreFailed, 1)}
}

func (g *Gate) clock() time.Time {
	if g.Now == nil {
		return time.Now()
	}
	return g.Now()
}

// First is the pass of the first attempt, before WaitForTurn.
func (g *Gate) First() *Pass { return &Pass{gate: g, attempt: 1} }

// Permit asks whether attempt may follow, and takes the retry from budget and bucket. Call it
// before the wait. timedOut says that the attempt before ended by a limit of its own.
func (g *Gate) Permit(ctx context.Context, attempt int, timedOut bool) (*Pass, *event.GuardRefused) {
	p := &Pass{gate: g, attempt: attempt, retry: true}
	r := guard.Request{Op: guard.Permit, Attempt: int64(attempt), TimedOut: timedOut}
	if !g.Guards.Need(&r) {
		return p, nil
	}
	reply := g.request(ctx, r, false)
	if reply.refusal != nil {
		return nil, reply.refusal
	}
	p.cost = retryCost{Taken: reply.answer.Taken, from: reply.from}
	return p, nil
}

// WaitForTurn asks last before an attempt starts, the first included. It waits for a turn, for a
// slot and for a store that fails as long as the guards say, and not beyond ctx. It reserves no
// turn that comes after the deadline; the zero time is none. The caller drops a pass that is
// refused.
func (g *Gate) WaitForTurn(ctx context.Context, p *Pass, deadline time.Time) *event.GuardRefused {
	begun := g.clock()
	reported := ""
	for wait := firstPoll; ; wait = min(wait*3/2, longestPoll) {
		refusal, left := g.TryTurn(ctx, p, deadline)
		if left <= 0 {
			return refusal
		}
		if refusal == nil { // its turn comes later
			if g.sleepUntil(ctx, p.turn) {
				continue
			}
			return g.unusable("the wait for the turn was cut short")
		}
		slot := refusal.Guard == guard.KindSlots.String()
		if slot && refusal.Reason != reported && g.clock().Sub(begun) >= reportAfter {
			reported = refusal.Reason
			g.emit(&event.SlotPending{Reason: reported, Left: left})
		}
		if !g.sleep(ctx, min(wait/2+time.Duration(g.Random()%uint64(wait)), left)) {
			return refusal
		}
	}
}

// sleepUntil sleeps until a turn, and reports after a moment that it does. It returns whether it
// was not cut short.
func (g *Gate) sleepUntil(ctx context.Context, turn time.Time) bool {
	left := turn.Sub(g.clock())
	if left > reportAfter {
		if !g.sleep(ctx, reportAfter) {
			return false
		}
		left = turn.Sub(g.clock())
		g.emit(&event.SlotPending{Turn: true, Reason: g.Guards.RateLimit.Reason(g.Key), Left: left})
	}
	return g.sleep(ctx, left)
}

// sleep reports whether it was not cut short.
func (g *Gate) sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// reportAfter is how long a run waits for a turn or a slot before it reports that (docs/logs.md).
const reportAfter = time.Second

// The interval between two polls for a slot grows from firstPoll to longestPoll.
const firstPoll, longestPoll = time.Millisecond, 250 * time.Millisecond

// TryTurn asks once for the attempt that is about to start. The time that it returns is above 0
// if the caller may ask again: without a refusal it is the time until the turn of the attempt,
// before which asking is of no use; with one it is what is left of the wait for a slot, or for a
// store that fails.
func (g *Gate) TryTurn(ctx context.Context, p *Pass, deadline time.Time) (*event.GuardRefused, time.Duration) {
	now := g.clock()
	r := guard.Request{
		Op: guard.Admit, Attempt: int64(p.attempt), Held: -1,
		Turn: g.Guards.RateLimit.Interval > 0 && !p.hasTurn, Slot: g.wantsSlot(p.attempt),
	}
	if !g.Guards.Need(&r) {
		p.passWithoutGuards(now)
		return nil, 0
	}
	p.begin(now, r.Turn, r.Slot)
	r.ID = p.id
	r.Patience = g.patience(p, deadline, now)
	r.Waiting = r.Slot && now.Before(p.slotUntil)
	if p.cost.from == g.store {
		r.Taken = p.cost.Taken
	}
	reply := g.request(ctx, r, now.Before(p.turnUntil) || now.Before(p.slotUntil))
	if p.cost.from != g.store { // that has failed
		p.cost = retryCost{}
	}
	p.hasTurn = p.hasTurn || reply.answered && reply.answer.Refusal.Guard != guard.KindRateLimit
	if reply.refusal != nil {
		left := p.left(&reply, r.Waiting, now)
		if left <= 0 && reply.answered {
			p.cost = retryCost{} // given back in the same transaction
			reply.refusal.PastDeadline = p.pastDeadline(&reply.answer.Refusal, deadline, now)
		}
		return reply.refusal, left
	}
	if reply.answer.Delay > 0 {
		delay := time.Duration(reply.answer.Delay) * time.Microsecond
		p.turn = g.clock().Add(delay) // the store's clock was read after now, and before this
		p.slotUntil = time.Time{}
		return nil, delay
	}
	p.admit(&reply)
	return nil, 0
}

// left is for how long an attempt that was refused may be asked for again; 0 for no more.
func (p *Pass) left(reply *reply, waiting bool, now time.Time) time.Duration {
	switch {
	case reply.failed:
		return max(p.turnUntil.Sub(now), p.slotUntil.Sub(now))
	case waiting && reply.answer.Refusal.Guard == guard.KindSlots:
		return p.slotUntil.Sub(now)
	}
	return 0
}

// pastDeadline reports whether a turn was refused since it comes after the deadline, not only after
// what wait= allows.
func (p *Pass) pastDeadline(by *guard.Refusal, deadline, now time.Time) bool {
	if by.Guard != guard.KindRateLimit || deadline.IsZero() {
		return false
	}
	limit := &p.gate.Guards.RateLimit
	return limit.Wait < 0 || by.RetryIn <= p.turnUntil.Sub(now).Milliseconds()
}

// patience is for how long a run waits for its turn: until its deadline, and what is left of
// wait=, in milliseconds; negative for any time.
func (g *Gate) patience(p *Pass, deadline, now time.Time) int64 {
	patience := int64(-1)
	if g.Guards.RateLimit.Wait >= 0 {
		patience = max(p.turnUntil.Sub(now).Milliseconds(), 0)
	}
	if left := max(deadline.Sub(now).Milliseconds(), 0); !deadline.IsZero() && (patience < 0 || left < patience) {
		return left
	}
	return patience
}

// wantsSlot reports whether an attempt takes a slot. The slot of a run is taken once.
func (g *Gate) wantsSlot(attempt int) bool {
	s := &g.Guards.Slots
	switch s.Of {
	case guard.OfRetries:
		return s.N > 0 && attempt > 1
	case guard.OfRuns:
		return s.N > 0 && attempt == 1
	}
	return s.N > 0
}

// AdmitCopy asks before a further copy of an attempt starts, and takes what a retry costs.
// timedOut is that of Permit, for the copy before.
func (g *Gate) AdmitCopy(ctx context.Context, attempt int, timedOut bool) (*Pass, *event.GuardRefused) {
	p := &Pass{gate: g, attempt: attempt, retry: true, id: g.id()}
	slots := &g.Guards.Slots
	r := guard.Request{
		Op: guard.AdmitCopy, Attempt: int64(attempt), TimedOut: timedOut, ID: p.id,
		Slot: slots.N > 0 && slots.Of != guard.OfRuns, Held: -1,
	}
	if !g.Guards.Need(&r) {
		p.passWithoutGuards(g.clock())
		return p, nil
	}
	reply := g.request(ctx, r, false)
	if reply.refusal != nil {
		return nil, reply.refusal
	}
	p.cost = retryCost{Taken: reply.answer.Taken, from: reply.from}
	p.admit(&reply)
	return p, nil
}

// Lost delivers that a slot was lost, at that moment, since its lease could not be renewed. It is
// nil if nothing is held by a lease, or the gate is nil, that of a run without guards.
func (g *Gate) Lost() <-chan *event.StoreFailed {
	if g == nil || g.leases == 0 {
		return nil
	}
	return g.lost
}

// StopsWhenLost reports whether the run ends if a slot is lost.
func (g *Gate) StopsWhenLost() bool { return g.Guards.Slots.Lost == guard.Stop }

// Finish reports the end of the run, whether an attempt succeeded.
func (g *Gate) Finish(succeeded bool) {
	if g.run != nil {
		g.run.Report(guard.Neither)
	}
	r := guard.Request{Op: guard.Finish, Attempt: 1, Succeeded: succeeded}
	if !g.Guards.Need(&r) {
		return
	}
	from := g.store
	if g.lastCost.number > 0 {
		r.Attempt = 2
		r.Taken = g.lastCost.Taken
		from = g.lastCost.from
	}
	if from.Store != nil {
		g.report(from, g.Timeout, r)
	}
}

func (g *Gate) id() int64 { return int64(g.Random()>>11) | 1 }
