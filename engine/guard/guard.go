// Package guard decides whether an attempt may start, for all runs that use
// the same thing: a circuit breaker, a retry budget, a token bucket, slots, and
// a limit of attempts that follows the rate of successes.
//
// The package is pure: a State, a Request and the time in milliseconds since the
// Unix epoch give an Answer and change the State. All numbers are integers, so
// that the Lua script that Redis runs (engine/store) answers alike. Each request
// brings its own parameters, as Guards; the State holds counts only. The zero State
// is that of a key that was never used.
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
// --rotate have failed, Reset forgets a key. Snapshot.Status shows a State to a
// person.
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

func (k Kind) String() string {
	return [...]string{"", "breaker", "budget", "tokens", "max-concurrent", "adaptive", "store"}[k]
}

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
	Attempts int64 // of the run at most, 0 for no limit; for Adaptive
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

// Request is one question or report.
type Request struct {
	Op Op
	// Attempt is the number of the attempt to come, from 1, in Permit and Admit,
	// and how many there were in Finish. Copies count.
	Attempt int64
	// TimedOut, of the attempt before, makes Permit take the greater cost.
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
	Taken     Taken
	Pass      Pass    // of Admit or AdmitCopy, in Report, Renew and Finish
	Outcome   Outcome // in Report
	Succeeded bool    // the run, in Finish
	Values    []int64 // that stand for values, 1 to MaxID, in ValuesFailed
}

// MaxID is the greatest ID. Lua's numbers are exact up to there.
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

// Answer is the result of a Request.
type Answer struct {
	Refusal  Refusal // its Guard is None where no guard refused
	Taken    Taken
	Pass     Pass
	From, To Circuit // they differ where this request changed the breaker
	Now      int64   // the time of the store, in milliseconds
}

// Refusal says which guard refused, and its figures.
type Refusal struct {
	Guard Kind
	// RetryIn is when it will admit an attempt again, in milliseconds from now, if
	// no other run asks; negative where that is not known.
	RetryIn int64
	// Circuit is the state of a breaker that refused.
	Circuit Circuit
	// Count, Of and Also are the figures of the reason. They are for
	//
	//	an open breaker  failures, outcomes, how often it opened in a row
	//	a half-open one  probes under way, probes at a time
	//	a budget         retries, runs
	//	a bucket         millionths of a token left, the cost, millionths kept
	//	slots            slots held, the limit
	//	adaptive         successes, outcomes, the limit of attempts
	Count, Of, Also int64
	// Holder is who holds a slot, and since when, "" where that is not known.
	Holder string
}

// State is what all runs on one key share.
type State struct {
	// Used is when the state was last used, Keep how long it is worth
	// keeping from then on, in milliseconds.
	Used, Keep int64
	Breaker    BreakerState
	Budget     []Window // of runs and retries
	Bucket     Bucket
	Recent     []int64 // the last outcomes, oldest first, 1 for a success
	Slots      []Lease
	Forgot     int64   // the generation that the last Reset began
	Failed     []Lease // the numbers of values that failed lately
}

// transaction is one request under way.
type transaction struct {
	g   *Guards
	s   *State
	r   *Request
	now int64
	a   Answer
}

var operations = [...]func(*transaction){
	Permit:       (*transaction).permit,
	Admit:        (*transaction).admit,
	AdmitCopy:    (*transaction).admitCopy,
	Report:       (*transaction).report,
	Renew:        (*transaction).renew,
	Withdraw:     func(t *transaction) { t.withdraw(t.r.Taken) },
	Finish:       (*transaction).finish,
	ValuesFailed: (*transaction).valuesFailed,
	Reset:        (*transaction).reset,
}

// Do answers a request and changes the state.
func Do(g *Guards, s *State, r *Request, now int64) Answer {
	if s.Used > 0 && now-s.Used > s.Keep {
		*s = State{}
	}
	s.clamp(now)
	s.Used, s.Keep = now, max(s.Keep, g.keep(s))
	t := transaction{g, s, r, now, Answer{From: s.Breaker.Circuit, Now: now}}
	operations[r.Op](&t)
	s.Keep = max(s.Keep, g.keep(s))
	t.a.To = s.Breaker.Circuit
	return t.a
}

// clamp makes what lies in the future count as now, so that a clock that was
// ahead blocks nothing.
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

// refuse answers with a refusal, and reports that there is one.
func (t *transaction) refuse(r Refusal) bool {
	t.a.Refusal = r
	return true
}

func (t *transaction) permit() { _ = t.breakerRefuses() || t.adaptiveRefuses() || t.retryRefused() }

// retryRefused takes one retry from budget and bucket, or nothing from either.
func (t *transaction) retryRefused() bool {
	g, taken := t.g, Taken{At: t.now, Budget: t.g.Budget.On}
	if g.Budget.On && t.budgetRefuses() {
		return true
	}
	if g.Tokens.Capacity > 0 {
		taken.Cost = g.Tokens.Cost
		if t.r.TimedOut {
			taken.Cost = g.Tokens.TimeoutCost
		}
		if t.bucketRefuses(taken.Cost) {
			return true
		}
	}
	if g.Budget.On {
		count(t.s.Budget, retries, t.now)
	}
	t.a.Taken = taken
	return false
}

func (t *transaction) admit() {
	refused := t.slotRefuses()
	if refused && t.r.Waiting {
		noSlot := t.a.Refusal
		if !t.breakerRefuses() || t.a.Refusal.Circuit != Open {
			t.a.Refusal = noSlot
			return
		}
	}
	if refused || t.breakerRefuses() {
		t.withdraw(t.r.Taken)
		return
	}
	t.enter()
	if b := &t.g.Budget; b.On && t.r.Attempt == 1 {
		window(&t.s.Budget, b.Window, t.now)
		count(t.s.Budget, runs, t.now)
	}
}

func (t *transaction) admitCopy() {
	switch {
	case t.breakerRefuses() || t.retryRefused():
	case t.slotRefuses():
		t.withdraw(t.a.Taken)
		t.a.Taken = Taken{}
	default:
		t.enter()
	}
}

// enter admits an attempt that no guard refuses.
func (t *transaction) enter() {
	t.a.Pass = Pass{ID: t.r.ID, Slot: t.wantsSlot()}
	if t.a.Pass.Slot && t.r.Held < 0 {
		t.s.Slots = append(t.s.Slots, Lease{t.r.ID, t.now + LeaseFor})
	}
	t.enterBreaker()
}

func (t *transaction) report() {
	r := t.r
	t.reportBreaker()
	if t.g.Adaptive && r.Outcome != Neither && r.Pass.Generation >= t.s.Forgot {
		t.s.remember(int64(Failure - r.Outcome))
	}
	t.freeSlot()
}

func (t *transaction) freeSlot() {
	if t.r.Pass.Slot {
		t.s.Slots = release(t.s.Slots, t.r.Pass.ID)
	}
}

func (t *transaction) renew() {
	p := &t.r.Pass
	if p.Place {
		t.s.Breaker.renew(p.ID, t.now)
	}
	if p.Slot {
		t.s.renewSlot(p.ID, t.now)
	}
}

// withdraw gives back what a retry took.
func (t *transaction) withdraw(taken Taken) {
	if taken.Budget && t.g.Budget.On {
		takeBack(t.s.Budget, retries, taken.At, t.now)
	}
	if taken.Cost > 0 && t.g.Tokens.Capacity > 0 {
		t.s.Bucket.give(&t.g.Tokens, taken.Cost, t.now)
	}
}

// finish gives back what the last retry of a run that succeeded took, or adds
// what a success at once is worth (AWS's standard mode).
func (t *transaction) finish() {
	if t.g.Tokens.Capacity > 0 && t.r.Succeeded {
		gift := t.r.Taken.Cost
		if t.r.Attempt <= 1 {
			gift = t.g.Tokens.Success
		}
		t.s.Bucket.give(&t.g.Tokens, gift, t.now)
	}
	t.freeSlot()
}

// reset forgets everything but the slots that are held.
func (t *transaction) reset() {
	b := BreakerState{Generation: t.s.Breaker.Generation}
	b.change(Closed, t.now)
	*t.s = State{Used: t.now, Keep: t.s.Keep, Breaker: b, Forgot: b.Generation, Slots: t.s.Slots}
}
