package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
)

// TestAfterTerm holds what is parked after an attempt during which TERM came.
func TestAfterTerm(t *testing.T) {
	exits := func(list string) classify.Exits {
		l, err := classify.ParseExits(list)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	code := func(n int) attempt.Result { return attempt.Result{ExitCode: n} }
	byTerm := attempt.Result{ExitCode: 143, Signal: term}
	for name, c := range map[string]struct {
		result attempt.Result
		change func(p *Policy, s *State)
		parks  bool
	}{
		"a failure":             {code(1), nil, true},
		"killed by it":          {byTerm, nil, true},
		"143":                   {code(143), nil, true},
		"a success":             {code(0), nil, false},
		"the last attempt":      {code(1), func(_ *Policy, s *State) { s.Attempt = 5 }, false},
		"a limit":               {attempt.Result{ExitCode: 124, TimedOut: true}, nil, true},
		"the deadline":          {attempt.Result{ExitCode: 124, DeadlinePassed: true}, nil, false},
		"no time for the wait":  {code(1), func(_ *Policy, s *State) { s.Deadline = time.Now() }, false},
		"not found":             {attempt.Result{ExitCode: 127, StartErr: context.Canceled}, nil, false},
		"unnamed by --on-exit":  {code(1), func(p *Policy, _ *State) { p.Rules.OnExit = exits("75") }, false},
		"named by --on-exit":    {code(75), func(p *Policy, _ *State) { p.Rules.OnExit = exits("75") }, true},
		"killed by it, unnamed": {byTerm, func(p *Policy, _ *State) { p.Rules.OnExit = exits("75") }, true},
		"143, unnamed":          {code(143), func(p *Policy, _ *State) { p.Rules.OnExit = exits("75") }, true},
		"killed by it, smart":   {byTerm, func(p *Policy, _ *State) { p.Rules.Mode = Smart }, true},
		"143, smart":            {code(143), func(p *Policy, _ *State) { p.Rules.Mode = Smart }, true},
		"killed by it, smart, unnamed": {byTerm,
			func(p *Policy, _ *State) { p.Rules.Mode, p.Rules.OnExit = Smart, exits("75") }, true},
		"killed by it, strict": {byTerm, func(p *Policy, _ *State) { p.Rules.Mode = Strict }, false},
		"killed by it, strict, named": {byTerm,
			func(p *Policy, _ *State) { p.Rules.Mode, p.Rules.OnExit = Strict, exits("TERM") }, false},
		"killed by it, stopped": {byTerm, func(p *Policy, _ *State) { p.Rules.StopOnExit = exits("TERM") },
			false},
		"143, stopped": {code(143), func(p *Policy, _ *State) { p.Rules.StopOnExit = exits("143") },
			false},
		"killed by it, a success": {byTerm, func(p *Policy, _ *State) { p.Rules.SuccessOnExit = exits("TERM") },
			false},
		"killed by it, last attempt": {byTerm, func(p *Policy, s *State) { p.Rules.Mode, s.Attempt = Smart, 5 },
			false},
		"killed by it, only 1 succeeds": {byTerm,
			func(p *Policy, _ *State) { p.Rules.SuccessOnExit, p.Rules.Mode = exits("1"), Smart }, true},
		"not yet":         {code(0), func(p *Policy, _ *State) { p.Consecutive = 3 }, false},
		"--until-failure": {code(1), func(p *Policy, _ *State) { p.UntilFailure = true }, false},
		"--repeat":        {code(1), func(p *Policy, _ *State) { p.Repeat = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, _, _ := newConfig()
			p := e.Policy
			p.Attempts, p.Consecutive = 5, 1
			s := p.First()
			if c.change != nil {
				c.change(&p, &s)
			}
			r := c.result
			r.Cancelled = term
			d, parks := afterTerm(&p, s, r, Evidence{}, time.Now(), 0.5)
			if parks != c.parks || parks && d.Ended != describe(c.result) {
				t.Errorf("parks: %v, %+v", parks, d)
			}
			r.CancelledAgain = true
			if _, parks := afterTerm(&p, s, r, Evidence{}, time.Now(), 0.5); parks {
				t.Error("a second signal parks")
			}
			r.Cancelled, r.CancelledAgain = "SIGINT", false
			if _, parks := afterTerm(&p, s, r, Evidence{}, time.Now(), 0.5); parks {
				t.Error("INT parks")
			}
		})
	}
}

// TestTermParks sends a signal at a moment of a run of two attempts, the wait between
// which takes a minute.
func TestTermParks(t *testing.T) {
	for name, c := range map[string]struct {
		signals  []attempt.Signal
		at       time.Duration
		off      bool // --cancel has asked for it
		fails    bool // no letter can be written
		outcome  event.Outcome
		due      time.Duration
		attempts int
	}{
		"in the wait": {[]attempt.Signal{term}, 20 * time.Second, false, false, event.Parked,
			time.Minute, 1},
		"INT in the wait": {[]attempt.Signal{"SIGINT"}, 20 * time.Second, false, false, event.Cancelled,
			0, 1},
		"in the wait, by --cancel":    {[]attempt.Signal{term}, 20 * time.Second, true, false, event.Cancelled, 0, 1},
		"in the wait, without letter": {[]attempt.Signal{term}, 20 * time.Second, false, true, event.Cancelled, 0, 1},
		"twice": {[]attempt.Signal{term, term}, 20 * time.Second, false, false, event.Cancelled,
			0, 1},
		"and then INT": {[]attempt.Signal{term, "SIGINT"}, 20 * time.Second, false, false, event.Cancelled, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, _, r := newConfig(exit1, exit0)
				signals := make(chan attempt.Signal, 2)
				e.Signals.Cancelled = signals
				e.Policy.Attempts, e.Policy.Schedule = 2,
					backoff.Schedule{Base: time.Minute, Cap: time.Hour, Curve: testPolicy().Schedule.Curve,
						Jitter: backoff.Jitter{Kind: backoff.None}}
				var letter *Letter
				e.Keep = func(ctx context.Context, l *Letter) string {
					switch {
					case !l.ByTerm || c.fails:
						return ""
					case len(c.signals) > 1:
						<-ctx.Done() // it takes long
						return ""
					}
					letter = l
					return "letter-1"
				}
				e.ParksOnTerm = func() bool { return !c.off }
				start := time.Now()
				go func() {
					time.Sleep(c.at)
					for _, s := range c.signals {
						signals <- s
						time.Sleep(time.Second)
					}
				}()
				end := e.Run(context.Background())
				last := r.last()
				if last.Outcome != c.outcome || last.Attempts != c.attempts {
					t.Fatalf("ended with %+v: %+v", end, last)
				}
				if c.outcome == event.Parked &&
					(end.Code != 75 || end.Signal != "" || last.DueAt.Sub(start) != c.due || letter.Place.Step != 2 ||
						letter.Decision.Jittered != time.Minute) {
					t.Errorf("ended with %+v, due %v: %+v", end, last.DueAt.Sub(start), letter)
				}
				if c.outcome == event.Cancelled && end.Signal != c.signals[len(c.signals)-1] {
					t.Errorf("ended with %+v", end)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}
