// Package guard decides whether an attempt may start, for all runs on one key: a circuit
// breaker, a retry budget, a token bucket, slots, a rate limit, and a limit of attempts that
// follows the rate of successes.
//
// The package is pure: Do takes a State, a Request and the time in milliseconds since the
// Unix epoch, changes the State and returns an Answer. All numbers are integers, so that
// the Lua script for Redis (engine/store) computes the same. The parameters, Guards, come
// with each request; the State holds counts only, and is zero for a new key.
package guard

import "context"

// Kind names a guard.
type Kind int

// The guards, and their store, which refuses if it cannot be used.
const (
	None Kind = iota
	KindBreaker
	KindBudget
	KindTokens
	KindSlots
	KindAdaptive
	KindRateLimit
	KindStore
)

func (k Kind) String() string {
	return [...]string{"", "breaker", "budget", "tokens", "max-concurrent", "adaptive", "rate-limit", "store"}[k]
}

// Priority says how much of a budget or a bucket a run may use.
type Priority int

// The priorities. High may use everything, Normal all but the reserve, Low half of that.
const (
	Normal Priority = iota
	Low
	High
)

// Guards are the parameters of the guards of a run. The zero value is none.
type Guards struct {
	Breaker   Breaker
	Budget    Budget
	Tokens    Tokens
	Slots     Slots
	RateLimit RateLimit
	Adaptive  bool
	Attempts  int64 // of the run at most, 0 for no limit; for Adaptive
	Priority  Priority
}

// Any reports whether there is a guard.
func (g *Guards) Any() bool {
	return g.Breaker.Named() || g.Budget.On || g.Tokens.Capacity > 0 || g.Slots.N > 0 || g.RateLimit.Interval > 0 ||
		g.Adaptive
}

// Need reports whether a guard decides on a request or counts it; if not, it need not be made.
func (g *Guards) Need(r *Request) bool {
	switch r.Op {
	case Permit:
		return g.Breaker.Named() || g.Budget.On || g.Tokens.Capacity > 0 || g.Adaptive
	case Admit:
		return r.Turn || r.Slot || g.Breaker.Named() || g.Budget.On && r.Attempt == 1
	case AdmitCopy:
		return r.Slot || g.Breaker.Named() || g.Budget.On || g.Tokens.Capacity > 0 || g.RateLimit.Interval > 0
	case Report:
		return r.Pass.Place || r.Pass.Slot || r.Outcome != Neither && (g.Breaker.Named() || g.Adaptive)
	case Finish:
		return r.Pass.Slot || r.Succeeded && g.Tokens.Capacity > 0
	}
	return true
}

// Op is an operation: one transaction on one State.
type Op int

// The operations, each with the guards that it asks.
const (
	Permit    Op = iota // before the wait of a retry: breaker, adaptive; takes from budget and tokens
	Admit               // before each attempt: takes a turn, a slot, and a place of the breaker; counts the run
	AdmitCopy           // before a copy of an attempt (hedging): breaker, budget, tokens, slots, a turn that is now
	Report              // after an attempt: its outcome; gives its slot back
	Renew               // keeps what a Pass holds for another lease
	Withdraw            // gives back what Permit took if no attempt follows
	Finish              // after the run: refunds tokens, gives the slot of a run back
	Reset               // drops all but the slots in use, and outcomes of attempts admitted before
)

// Outcome is how an attempt ended.
type Outcome int

// The outcomes. Neither is for an attempt that was cancelled, could not be started, or
// failed by the client's own fault.
const (
	Neither Outcome = iota
	Success
	Failure
)

// Request is one question or report.
type Request struct {
	Op Op
	// Attempt is the number of the next attempt, from 1, in Permit and Admit, and the
	// number of all, with copies, in Finish.
	Attempt  int64
	TimedOut bool // the attempt before, for which Permit takes the greater cost
	// ID is that of what Admit and AdmitCopy take, random, from 1 to MaxID. A request that is
	// repeated since its answer was lost has the same.
	ID   int64
	Slot bool // Admit and AdmitCopy need a slot
	// Turn says that Admit needs a turn of the rate limit. If that is not now it is reserved,
	// and nothing else is asked. Patience is for how long the run would wait for it, in
	// milliseconds; negative for any time.
	Turn     bool
	Patience int64
	// Waiting says that Admit is repeated if there is no slot: nothing is given back then,
	// and an open breaker has precedence.
	Waiting bool
	// Held is the number of slots in use if the store counts them; negative if the State
	// does, by leases.
	Held int64
	// Taken is what Permit took. Admit gives it back if it refuses, Withdraw always, Finish
	// the tokens if the run succeeded.
	Taken     Taken
	Pass      Pass    // of Admit or AdmitCopy, in Report, Renew and Finish
	Outcome   Outcome // in Report
	Succeeded bool    // the run, in Finish
}

// MaxID is the greatest ID, the limit of exact numbers in Lua.
const MaxID = 1<<53 - 1

// Taken is what a retry took from budget and bucket.
type Taken struct {
	At     int64 // when, in milliseconds
	Budget bool  // it is counted in the budget
	Cost   int64 // in tokens
}

// Pass is what an attempt holds.
type Pass struct {
	ID int64
	// Generation is that of the breaker at the time. An outcome counts for the breaker if
	// it has not changed since, for the rate of successes if there was no Reset since.
	Generation int64
	// Place says that the attempt holds a probe's place, Slot that it holds a slot. Both
	// are leases if the State counts them.
	Place, Slot bool
}

// Lock is a slot that no lease holds, but the kernel or the process. One that the command
// inherits has a Descriptor.
type Lock interface{ Unlock() }

// Store keeps States by key. It returns soon after ctx is done.
type Store interface {
	// Do performs a request as one transaction. A slot that no lease holds is returned as
	// a Lock.
	Do(ctx context.Context, key string, g *Guards, r *Request) (Answer, Lock, error)
	// Look returns what is known of a key, nil if nothing is.
	Look(ctx context.Context, key string) (*Snapshot, error)
}

// LeaseFor is the time of a place or a slot without Renew, in milliseconds.
const LeaseFor = 10_000

// Answer is the result of a Request.
type Answer struct {
	Refusal  Refusal // Guard is None for no refusal
	Taken    Taken
	Pass     Pass
	From, To Circuit // of the breaker, before and after
	Now      int64   // the time of the store, in milliseconds
	// Delay is the time until the turn that Admit reserved, in microseconds; 0 for now.
	Delay int64
	// Lost says that a slot that Renew keeps was not held any more, and that others hold all.
	Lost bool
}

// Refusal says which guard refused, and its figures.
type Refusal struct {
	Guard Kind
	// RetryIn is when it will admit an attempt again if no other run asks, in
	// milliseconds; negative if that is not known.
	RetryIn int64
	// Circuit is that of a breaker. An open one has Failures of Outcomes, and Openings in a
	// row; a half-open one has Probes under way.
	Circuit                              Circuit
	Failures, Outcomes, Openings, Probes int64
	// Retries and Runs are those in the window of a budget.
	Retries, Runs int64
	// Left and Kept are millionths of a token in a bucket, Cost is in tokens.
	Left, Kept, Cost int64
	// Held is the number of slots in use.
	Held int64
	// Successes, of Outcomes, allow Attempts: the adaptive limit.
	Successes, Attempts int64
	// Holder is the holder of a slot, and since when; "" if that is not known.
	Holder string
}

// State is what all runs on one key share.
type State struct {
	// Used is when the state was last used, Keep for how long it matters after that, in
	// milliseconds.
	Used, Keep int64
	Breaker    BreakerState
	Budget     []Window // of runs and retries
	Bucket     Bucket
	Turns      Turns
	Recent     []int64 // the last outcomes, oldest first, 1 for a success
	Slots      []Lease
	Forgot     int64 // the generation since the last Reset
}

// transaction is one request under way.
type transaction struct {
	g   *Guards
	s   *State
	r   *Request
	now int64
	a   Answer
}

// operations change the state and the answer, or return a refusal.
var operations = [...]func(*transaction) *Refusal{
	Permit:    (*transaction).permit,
	Admit:     (*transaction).admit,
	AdmitCopy: (*transaction).admitCopy,
	Report:    (*transaction).report,
	Renew:     (*transaction).renew,
	Withdraw:  (*transaction).withdraw,
	Finish:    (*transaction).finish,
	Reset:     (*transaction).reset,
}

// Do performs a request.
func Do(g *Guards, s *State, r *Request, now int64) Answer {
	if s.Used > 0 && now-s.Used > s.Keep {
		*s = State{}
	}
	s.clamp(now)
	s.Used = now
	t := transaction{g: g, s: s, r: r, now: now, a: Answer{From: s.Breaker.Circuit, Now: now}}
	if refusal := operations[r.Op](&t); refusal != nil {
		t.a.Refusal = *refusal
	}
	s.Keep = max(s.Keep, g.keep(s))
	t.a.To = s.Breaker.Circuit
	return t.a
}

// clamp replaces times in the future, of a clock that was ahead, by now.
func (s *State) clamp(now int64) {
	s.Breaker.Opened = min(s.Breaker.Opened, now)
	s.Bucket.Stamp = min(s.Bucket.Stamp, now)
	s.Turns.clamp(now)
	s.Forgot = min(s.Forgot, now)
	clampLeases(s.Breaker.Probes, now+LeaseFor)
	clampLeases(s.Slots, now+LeaseFor)
}

// day is the least time that an unused state is kept, in milliseconds.
const day = 24 * 60 * 60 * 1000

// keep is for how long the state matters to these guards: at least twice the window, the
// longest time open, the refill of what is missing, and the turns that are reserved.
func (g *Guards) keep(s *State) int64 {
	keep := max(day, 2*g.Breaker.Window, longestOpen*g.Breaker.Open, 2*g.Budget.Window, s.Turns.ahead(s.Used))
	if g.Tokens.Refill > 0 {
		keep = max(keep, ceilDiv(s.Bucket.Missing, g.Tokens.Refill))
	}
	return keep
}

func (t *transaction) permit() *Refusal {
	if refusal := t.checkBreaker(); refusal != nil {
		return refusal
	}
	if refusal := t.checkAdaptive(); refusal != nil {
		return refusal
	}
	return t.takeRetry()
}

// takeRetry takes a retry from both budget and bucket, or from neither.
func (t *transaction) takeRetry() *Refusal {
	refusal := t.takeBudget()
	if refusal == nil {
		refusal = t.takeTokens()
	}
	if refusal != nil {
		t.giveBack(t.a.Taken)
		t.a.Taken = Taken{}
	}
	return refusal
}

func (t *transaction) admit() *Refusal {
	if t.r.Turn {
		if refusal := t.takeTurn(t.r.Patience); refusal != nil {
			t.giveBack(t.r.Taken)
			return refusal
		}
		if t.a.Delay > 0 {
			return nil
		}
	}
	refusal, broken := t.checkSlots(), t.checkBreaker()
	switch {
	case refusal == nil && broken == nil:
		t.enter()
		t.countRun()
		return nil
	case refusal != nil && t.r.Waiting && (broken == nil || broken.Circuit != Open):
		return refusal
	case refusal == nil || t.r.Waiting:
		refusal = broken
	}
	t.giveBack(t.r.Taken)
	return refusal
}

func (t *transaction) admitCopy() *Refusal {
	if refusal := t.checkBreaker(); refusal != nil {
		return refusal
	}
	if refusal := t.takeRetry(); refusal != nil {
		return refusal
	}
	refusal := t.checkSlots()
	if refusal == nil {
		refusal = t.takeTurn(0)
	}
	if refusal != nil {
		t.giveBack(t.a.Taken)
		t.a.Taken = Taken{}
		return refusal
	}
	t.enter()
	return nil
}

// enter admits an attempt that no guard refuses.
func (t *transaction) enter() {
	t.a.Pass = Pass{ID: t.r.ID, Slot: t.wantsSlot()}
	if t.a.Pass.Slot && t.r.Held < 0 {
		t.s.Slots = expire(t.s.Slots, t.now)
		t.holdSlot(t.r.ID)
	}
	t.enterBreaker()
}

func (t *transaction) report() *Refusal {
	r, s := t.r, t.s
	t.reportBreaker()
	if t.g.Adaptive && r.Outcome != Neither && r.Pass.Generation >= s.Forgot {
		success := int64(0)
		if r.Outcome == Success {
			success = 1
		}
		s.Recent = append(s.Recent, success)
		s.Recent = s.Recent[max(0, len(s.Recent)-lookBack):]
	}
	t.freeSlot()
	return nil
}

// renew renews leases. A slot that was lost is held again, since what it stands for still
// runs.
func (t *transaction) renew() *Refusal {
	p := &t.r.Pass
	if p.Place {
		t.s.Breaker.renew(p.ID, t.now)
	}
	if p.Slot {
		t.s.Slots = expire(t.s.Slots, t.now)
		t.a.Lost = !t.s.holds(p.ID) && int64(len(t.s.Slots)) >= t.g.Slots.N
		t.holdSlot(p.ID)
	}
	return nil
}

func (t *transaction) withdraw() *Refusal {
	t.giveBack(t.r.Taken)
	return nil
}

// giveBack gives back what a retry took.
func (t *transaction) giveBack(taken Taken) {
	if taken.Budget && t.g.Budget.On {
		takeBack(t.s.Budget, retries, taken.At, t.now)
	}
	if taken.Cost > 0 && t.g.Tokens.Capacity > 0 {
		t.s.Bucket.give(&t.g.Tokens, taken.Cost, t.now)
	}
}

// finish gives back what the last retry of a run that succeeded took, or adds the reward
// for a success without a retry (AWS's standard mode).
func (t *transaction) finish() *Refusal {
	if t.g.Tokens.Capacity > 0 && t.r.Succeeded {
		gift := t.r.Taken.Cost
		if t.r.Attempt <= 1 {
			gift = t.g.Tokens.Success
		}
		t.s.Bucket.give(&t.g.Tokens, gift, t.now)
	}
	t.freeSlot()
	return nil
}

func (t *transaction) reset() *Refusal {
	b := BreakerState{Generation: t.s.Breaker.Generation}
	b.change(Closed, t.now)
	*t.s = State{Used: t.now, Keep: t.s.Keep, Breaker: b, Forgot: b.Generation, Slots: t.s.Slots}
	return nil
}
