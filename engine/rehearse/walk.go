package rehearse

// This file walks the decisions of a rehearsed run without waiting: the same
// steps and the same Decide, over arithmetic time.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
)

// Plan says which run is walked.
type Plan struct {
	Steps  Steps
	Policy *engine.Policy
	Argv   []string
	// Evidence is what the output of a pretended attempt says.
	Evidence engine.Evidence
	// Draw gives the numbers of the waits, Chance those of the steps; both are
	// uniform in [0, 1).
	Draw, Chance func() float64
	// Begin is the time of the start.
	Begin time.Time
	// Gate, if not nil, is asked as in a run. Its clock is Now.
	Gate engine.Gate

	now time.Time
}

// Now is the arithmetic time.
func (p *Plan) Now() time.Time { return p.now }

// Row is one attempt.
type Row struct {
	Attempt int
	// Starts is when it starts, counted from the start of the run.
	Starts time.Duration
	// Run says that the command would be run: nobody can tell what follows.
	Run      bool
	Result   attempt.Result
	Decision engine.Decision
	// Refusal says that a guard lets no attempt follow, or not even this one,
	// where Attempt is 1 and nothing was decided.
	Refusal *engine.Refusal
}

// MostRows is how many attempts of a run without limit are walked.
const MostRows = 100

// Walk gives each attempt to row, up to the end of the run, the first attempt
// that would run the command, or MostRows where attempts are unlimited. Where the
// deadline leaves no time for any attempt there is no row.
func (p *Plan) Walk(row func(Row)) {
	policy := p.Policy
	state := engine.State{Attempt: 1, Step: 1, Previous: policy.Schedule.First(), Argv: p.Argv}
	if policy.Deadline > 0 {
		state.Deadline = p.Begin.Add(policy.Deadline)
	}
	p.now = p.Begin.Add(policy.InitialDelay)
	if policy.Splay > 0 {
		p.now = p.now.Add(time.Duration(float64(policy.Splay) * p.Draw()))
	}
	if policy.Deadline > 0 && p.now.After(state.Deadline) {
		return
	}
	timedOut := false
	for n := 1; policy.Attempts > 0 || n <= MostRows; n++ {
		r := Row{Attempt: n, Starts: p.now.Sub(p.Begin)}
		pass, refusal := p.admit(engine.Ask{Attempt: n, TimedOut: timedOut})
		if r.Refusal = refusal; refusal != nil {
			row(r)
			return
		}
		if r.Run = !p.attempt(&r, &state); r.Run {
			row(r)
			return
		}
		d := &r.Decision
		if pass != nil {
			pass.Report(d.Counts)
		}
		timedOut = r.Result.TimedOut
		if d.Retry && p.Gate != nil {
			r.Refusal = p.Gate.Permit(context.Background(), engine.Ask{Attempt: n + 1, TimedOut: timedOut})
		}
		row(r)
		if !d.Retry || r.Refusal != nil {
			return
		}
		p.now, state = p.now.Add(d.Wait), d.Next
	}
}

// admit asks the gate for an attempt.
func (p *Plan) admit(a engine.Ask) (engine.Pass, *engine.Refusal) {
	if p.Gate == nil {
		return nil, nil
	}
	return p.Gate.Admit(context.Background(), a)
}

// attempt acts one attempt out and decides what follows. It returns false where
// the command would be run.
func (p *Plan) attempt(r *Row, state *engine.State) bool {
	policy := p.Policy
	u := 0.0
	if !p.Steps.Certain(r.Attempt) {
		u = p.Chance()
	}
	step, pretends := p.Steps.At(r.Attempt, u)
	if !pretends {
		return false
	}
	left := time.Duration(-1)
	if policy.Deadline > 0 {
		left = max(state.Deadline.Sub(p.now), 0)
	}
	result, takes := step.Outcome(policy.Timeout, policy.IdleTimeout, left)
	result.Rehearsed, result.Duration = true, max(takes, 0)
	switch {
	case result.TimedOut && result.Idle:
		result.Limit = policy.IdleTimeout
	case result.TimedOut:
		result.Limit = policy.Timeout
	}
	p.now = p.now.Add(result.Duration)
	r.Result = result
	r.Decision = engine.Decide(policy, *state, result, p.Evidence, p.now, p.Draw())
	return true
}
