// Package guard decides whether an attempt may start, for all runs that speak to
// the same thing: a circuit breaker, a retry budget, a token bucket, slots, and
// a limit of attempts that follows the rate of successes.
//
// Everything is pure: a State, a Request and the time in milliseconds since the
// Unix epoch give an Answer and change the State. All numbers are integers, so
// that the Lua script that Redis runs (engine/store) answers alike. Each request
// brings its own parameters, as Guards; the State holds counts only.
//
// A run asks in this order:
//
//	Admit      before attempt 1, and before each later one, when its wait is over
//	Report     when the attempt has ended
//	Permit     before the wait that leads to a retry
//	Withdraw   where no attempt follows what was permitted
//	AdmitCopy  before a copy of an attempt that runs (hedging)
//	Finish     when the run has ended
//
// Two operations have no run behind them: ValuesFailed shares which values of
// --rotate have failed, Reset forgets a key. A Snapshot shows a State to a person
// (Snapshot.Status).
//
// The zero State is that of a key that was never used. The package will never
// read a clock, wait, draw a random number, or know where a State is kept.
package guard

// Kind names a guard.
type Kind int

// The guards, and the store that their state is in: it refuses where it cannot
// be used.
const (
	None Kind = iota
	KindBreaker
	KindBudget
	KindTokens
	KindSlots
	KindAdaptive
	KindStore
)

var kindNames = [...]string{"", "breaker", "budget", "tokens", "max-concurrent", "adaptive", "store"}

func (k Kind) String() string { return kindNames[k] }

// Priority says how much of a budget or a bucket a run sees.
type Priority int

// The priorities. High sees everything, Normal all but the reserve, Low half of
// what Normal sees.
const (
	Normal Priority = iota
	Low
	High
)

// Guards are the parameters of the guards that one run names. The zero value
// names none.
type Guards struct {
	Breaker  Breaker
	Budget   Budget
	Tokens   Tokens
	Slots    Slots
	Adaptive bool
	// Attempts is the most attempts of the run, 0 for no limit. Adaptive alone
	// looks at it.
	Attempts int64
	Priority Priority
}

// Any reports whether a guard is named.
func (g *Guards) Any() bool {
	return g.Breaker.Named() || g.Budget.On || g.Tokens.Capacity > 0 || g.Slots.N > 0 || g.Adaptive
}

// Op is what is asked or reported.
type Op int

// The operations, each one transaction on one State.
const (
	// Permit asks before the wait of a retry: breaker (taking no place),
	// adaptive, budget and tokens, which take.
	Permit Op = iota
	// Admit asks last before an attempt: slots and breaker, which take. The first
	// attempt counts the run.
	Admit
	// AdmitCopy asks for a copy beside an attempt that runs: the breaker, which
	// must be closed, budget, tokens, and a slot.
	AdmitCopy
	// Report says how an attempt ended, and gives its slot back.
	Report
	// Renew keeps what a Pass holds for another lease.
	Renew
	// Withdraw gives back what Permit took.
	Withdraw
	// Finish says that the run has ended: refunds, and the slot of a run.
	Finish
	// ValuesFailed says that values of rotated names have failed now.
	ValuesFailed
	// Reset forgets everything but the slots that are held. An outcome of an
	// attempt that was admitted before does not count any more.
	Reset
)

// Outcome is how an attempt ended.
type Outcome int

// The outcomes. Neither counts neither way: cancelled, could not be started, or
// failed by the client's own fault.
const (
	Neither Outcome = iota
	Success
	Failure
)

// Request is one question or report. What an operation does not name, it does
// not look at.
type Request struct {
	Op Op
	// Attempt is the number of the attempt to come, from 1, in Permit and Admit,
	// and how many there were in Finish. Copies count.
	Attempt int64
	// TimedOut says that the attempt before was ended by a limit: Permit then
	// asks for the greater cost.
	TimedOut bool
	// ID names what Admit and AdmitCopy take. It is random, from 1 to MaxID.
	ID int64
	// Slot asks Admit and AdmitCopy for a slot.
	Slot bool
	// Waiting says that Admit is asked again where there is no slot: then nothing
	// is given back, and an open breaker refuses first.
	Waiting bool
	// Held is the number of slots that are held where the store counts them;
	// negative where the State does, by leases.
	Held int64
	// Taken is what Permit took. Admit gives it back where it refuses, Withdraw
	// always, Finish the tokens where the run succeeded.
	Taken Taken
	// Pass is what Admit or AdmitCopy gave, in Report, Renew and Finish.
	Pass Pass
	// Outcome is what Report says.
	Outcome Outcome
	// Succeeded says in Finish that the run did.
	Succeeded bool
	// Values are the numbers that stand for values, 1 to MaxID, in ValuesFailed.
	Values []int64
}

// MaxID is the greatest ID. Lua's numbers are exact up to there.
const MaxID = 1<<53 - 1

// Taken is what a retry took from budget and bucket.
type Taken struct {
	// At is when, in milliseconds.
	At int64
	// Budget says that it is counted in the budget.
	Budget bool
	// Cost is what it took from the bucket, in tokens.
	Cost int64
}

// Pass is what an attempt holds.
type Pass struct {
	ID int64
	// Generation is that of the breaker at the time. For the breaker an outcome
	// counts only if it has not changed since, for the rate of successes if the key
	// was not reset since.
	Generation int64
	// Place says that the attempt holds a probe's place, Slot that it holds a
	// slot. Both are leases where the State counts them.
	Place, Slot bool
}

// LeaseFor is how long a place or a slot is held without being renewed, in
// milliseconds.
const LeaseFor = 10_000

// Answer is what came of a Request.
type Answer struct {
	// Refusal says which guard refused; its Guard is None where none did.
	Refusal Refusal
	// Taken and Pass are what was taken.
	Taken Taken
	Pass  Pass
	// From and To differ where this request changed the breaker.
	From, To Circuit
	// Now is the time of the store, in milliseconds.
	Now int64
}

// Refusal says which guard refused, and its figures.
type Refusal struct {
	Guard Kind
	// RetryIn is when it will admit an attempt again, in milliseconds from now, if
	// no other run asks; negative where that is not known.
	RetryIn int64
	// Circuit is the state of a breaker that refused.
	Circuit Circuit
	// Figures are what Reason puts into words.
	Figures [3]int64
	// Holder is who holds a slot, and since when, "" where that is not known.
	Holder string
}

// State is what all runs on one key share.
type State struct {
	// Used is when the state was last used, Keep how long it is worth
	// keeping from then on, in milliseconds.
	Used, Keep int64
	Breaker    BreakerState
	// Budget counts runs and retries.
	Budget []Window
	Bucket Bucket
	// Recent are the last outcomes, oldest first, true for a success.
	Recent []bool
	// Slots are leases.
	Slots []Lease
	// Forgot is the generation that the last Reset began.
	Forgot int64
	// Failed are the values that failed lately: each a number, and until when the
	// failure counts.
	Failed []Lease
}

// Lease is something that is held until a time, in milliseconds.
type Lease struct {
	ID, Until int64
}

// Do answers a request and changes the state.
func Do(g *Guards, s *State, r *Request, now int64) Answer {
	if s.Used > 0 && now-s.Used > s.Keep {
		*s = State{}
	}
	s.clamp(now)
	s.Used, s.Keep = now, max(s.Keep, g.keep(s))
	a := Answer{From: s.Breaker.Circuit, Now: now}
	switch r.Op {
	case Permit:
		a.Refusal, a.Taken = permit(g, s, r, now)
	case Admit:
		a.Refusal, a.Pass = admit(g, s, r, now)
	case AdmitCopy:
		a.Refusal, a.Taken, a.Pass = admitCopy(g, s, r, now)
	case Report:
		report(g, s, r, now)
	case Renew:
		renew(s, r, now)
	case Withdraw:
		withdraw(g, s, r.Taken, now)
	case Finish:
		finish(g, s, r, now)
	case ValuesFailed:
		s.valuesFailed(r.Values, now)
	case Reset:
		s.reset(now)
	}
	a.To = s.Breaker.Circuit
	s.Keep = max(s.Keep, g.keep(s))
	return a
}

// clamp makes what lies in the future count as now, so that a clock that was
// ahead wedges nothing.
func (s *State) clamp(now int64) {
	s.Breaker.Opened = min(s.Breaker.Opened, now)
	s.Bucket.Stamp = min(s.Bucket.Stamp, now)
	s.Forgot = min(s.Forgot, now)
	clampLeases(s.Breaker.Probes, now+LeaseFor)
	clampLeases(s.Slots, now+LeaseFor)
	clampLeases(s.Failed, now+valuesFor)
}

// day is the least time that an unused state is kept, in milliseconds.
const day = 24 * 60 * 60 * 1000

// keep is how long the state matters to these guards: never less than twice the
// window, the longest time open, or the refill of what is missing.
func (g *Guards) keep(s *State) int64 {
	keep := int64(day)
	if g.Breaker.Named() {
		keep = max(keep, 2*g.Breaker.Window, longestOpen*g.Breaker.Open)
	}
	if g.Budget.On {
		keep = max(keep, 2*g.Budget.Window)
	}
	if g.Tokens.Capacity > 0 && g.Tokens.Refill > 0 {
		keep = max(keep, ceilDiv(s.Bucket.Missing, g.Tokens.Refill))
	}
	return keep
}

func permit(g *Guards, s *State, r *Request, now int64) (Refusal, Taken) {
	if refusal, refused := s.Breaker.refuses(&g.Breaker, now); refused {
		return refusal, Taken{}
	}
	if refusal, refused := adaptiveRefuses(g, s.Recent, r.Attempt); refused {
		return refusal, Taken{}
	}
	return spend(g, s, r.TimedOut, now)
}

// spend takes one retry from budget and bucket, or nothing from either.
func spend(g *Guards, s *State, timedOut bool, now int64) (Refusal, Taken) {
	taken := Taken{At: now}
	if g.Budget.On {
		w := window(&s.Budget, g.Budget.Window, now)
		if refusal, refused := g.Budget.refuses(w, g.Priority, now); refused {
			return refusal, Taken{}
		}
	}
	if t := &g.Tokens; t.Capacity > 0 {
		taken.Cost = t.Cost
		if timedOut {
			taken.Cost = t.TimeoutCost
		}
		if refusal, refused := s.Bucket.take(t, taken.Cost, g.Priority, now); refused {
			return refusal, Taken{}
		}
	}
	if g.Budget.On {
		taken.Budget = true
		count(s.Budget, retries, now)
	}
	return Refusal{}, taken
}

func admit(g *Guards, s *State, r *Request, now int64) (Refusal, Pass) {
	refusal, refused := s.slotRefuses(g, r, now)
	if refused && r.Waiting {
		if open, is := s.Breaker.refuses(&g.Breaker, now); is && open.Circuit == Open {
			refusal = open
		} else {
			return refusal, Pass{}
		}
	}
	if !refused {
		refusal, refused = s.Breaker.refuses(&g.Breaker, now)
	}
	if refused {
		withdraw(g, s, r.Taken, now)
		return refusal, Pass{}
	}
	pass := s.enter(g, r, now)
	if g.Budget.On && r.Attempt == 1 {
		window(&s.Budget, g.Budget.Window, now)
		count(s.Budget, runs, now)
	}
	return Refusal{}, pass
}

func admitCopy(g *Guards, s *State, r *Request, now int64) (Refusal, Taken, Pass) {
	if refusal, refused := s.Breaker.refusesCopy(&g.Breaker, now); refused {
		return refusal, Taken{}, Pass{}
	}
	refusal, taken := spend(g, s, r.TimedOut, now)
	if refusal.Guard != None {
		return refusal, Taken{}, Pass{}
	}
	if refusal, refused := s.slotRefuses(g, r, now); refused {
		withdraw(g, s, taken, now)
		return refusal, Taken{}, Pass{}
	}
	return Refusal{}, taken, s.enter(g, r, now)
}

// enter admits an attempt that no guard refuses.
func (s *State) enter(g *Guards, r *Request, now int64) Pass {
	pass := Pass{ID: r.ID}
	s.takeSlot(g, r, &pass, now)
	s.Breaker.enter(&g.Breaker, &pass, now)
	return pass
}

func report(g *Guards, s *State, r *Request, now int64) {
	if g.Breaker.Named() {
		s.Breaker.report(&g.Breaker, r.Pass, r.Outcome, now)
	}
	if g.Adaptive && r.Outcome != Neither && r.Pass.Generation >= s.Forgot {
		s.remember(r.Outcome == Success)
	}
	if r.Pass.Slot {
		s.Slots = release(s.Slots, r.Pass.ID)
	}
}

func renew(s *State, r *Request, now int64) {
	if r.Pass.Place {
		s.Breaker.renew(r.Pass, now)
	}
	if r.Pass.Slot {
		s.renewSlot(r.Pass.ID, now)
	}
}

func withdraw(g *Guards, s *State, t Taken, now int64) {
	if t.Budget && g.Budget.On {
		takeBack(s.Budget, retries, t.At, now)
	}
	if t.Cost > 0 && g.Tokens.Capacity > 0 {
		s.Bucket.give(&g.Tokens, t.Cost, now)
	}
}

// finish gives back what the last retry of a run that succeeded took, or adds
// what a success at once is worth (AWS's standard mode).
func finish(g *Guards, s *State, r *Request, now int64) {
	if g.Tokens.Capacity > 0 && r.Succeeded {
		gift := r.Taken.Cost
		if r.Attempt <= 1 {
			gift = g.Tokens.Success
		}
		s.Bucket.give(&g.Tokens, gift, now)
	}
	if r.Pass.Slot {
		s.Slots = release(s.Slots, r.Pass.ID)
	}
}

// reset forgets everything but the slots that are held.
func (s *State) reset(now int64) {
	b := BreakerState{Generation: s.Breaker.Generation}
	b.change(Closed, now)
	*s = State{Used: now, Keep: s.Keep, Breaker: b, Forgot: b.Generation, Slots: s.Slots}
}
