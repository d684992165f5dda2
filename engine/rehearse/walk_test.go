package rehearse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
)

func policy(attempts int) engine.Policy {
	return engine.Policy{
		Attempts: attempts, Consecutive: 1, MaxHint: time.Minute,
		Schedule: backoff.Schedule{Curve: backoff.Exponential{Base: time.Second, Factor: 2}, Base: time.Second, Cap: 30 * time.Second, Jitter: backoff.Jitter{Kind: backoff.Full}},
		Rules:    engine.Rules{Table: classify.BuiltIn},
	}
}

// walk writes the rows of a walk as words.
func walk(steps Steps, p engine.Policy, seed uint64) string {
	var b strings.Builder
	random := rand.New(rand.NewPCG(seed, 1))
	plan := Plan{
		Steps: steps, Policy: &p, Argv: []string{"true"},
		Draw: rand.New(rand.NewPCG(seed, 0)).Float64, Chance: random.Float64, Begin: time.Unix(1e9, 0),
	}
	plan.Walk(func(r Row) {
		if r.Run {
			fmt.Fprintf(&b, "%d at %v run=true\n", r.Attempt, r.Starts)
			return
		}
		if r.Decision.Retry { // of a success that is not the last
			r.Decision.Outcome = ""
		} else { // of one that was not begun
			r.Decision.Wait = 0
		}
		fmt.Fprintf(&b, "%d at %v run=%v code=%d %s/%s wait=%v outcome=%s end=%d\n", r.Attempt, r.Starts, r.Run, r.Result.ExitCode, r.Decision.Reason, r.Decision.Why, r.Decision.Wait, r.Decision.Outcome, r.Decision.End.Code)
	})
	return b.String()
}

// sink writes the same of a real run.
type sink struct {
	strings.Builder
	begun    time.Time
	at       time.Duration
	finished *event.AttemptFinished
	ran      bool
}

func (s *sink) Close(context.Context) error { return nil }

func (s *sink) Emit(e event.Event) {
	switch e := e.(type) {
	case *event.RunStarted:
		s.begun = e.Time
	case *event.AttemptStarted:
		s.at = e.Elapsed
	case *event.AttemptFinished:
		s.finished = e
	case *event.RetryScheduled:
		s.row("", 0, "", e.Jittered)
	case *event.RunFinished:
		s.row(string(e.Outcome), e.ExitCode, e.Why, 0)
	}
}

func (s *sink) row(outcome string, code int, why string, wait time.Duration) {
	f := s.finished
	if s.ran || f == nil {
		return
	}
	if !f.Result.Rehearsed {
		s.ran = true
		fmt.Fprintf(s, "%d at %v run=true\n", f.Attempt, s.at)
		return
	}
	fmt.Fprintf(s, "%d at %v run=false code=%d %s/%s wait=%v outcome=%s end=%d\n", f.Attempt, s.at, f.Result.ExitCode, f.Reason, why, wait, outcome, code)
}

// The walk says what a rehearsed run does: 300 random runs, by a fake clock.
func TestTheWalkIsTheRun(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	results := []string{"0", "1", "75", "127", "KILL", "timeout", "run", "75:2s", "1:40s", "0:3s", "timeout:5s"}
	for range 300 {
		var list []string
		for range 1 + random.IntN(4) {
			step := results[random.IntN(len(results))]
			switch random.IntN(4) {
			case 0:
				step = "2*" + step
			case 1:
				step = "50%" + step
			}
			list = append(list, step)
		}
		steps, err := Parse(strings.Join(list, ","), number)
		if err != nil {
			t.Fatal(err)
		}
		p := policy(1 + random.IntN(6))
		p.Deadline = []time.Duration{0, 10 * time.Second, time.Minute}[random.IntN(3)]
		p.Timeout = []time.Duration{0, time.Second, 20 * time.Second}[random.IntN(3)]
		p.InitialDelay = []time.Duration{0, time.Second}[random.IntN(2)]
		p.Consecutive = 1 + random.IntN(2)
		p.UntilFailure = random.IntN(4) == 0
		p.Rules.Mode = []engine.Mode{engine.Any, engine.Smart, engine.Strict}[random.IntN(3)]
		seed := random.Uint64()
		want := walk(steps, p, seed)
		synctest.Test(t, func(t *testing.T) {
			out := &sink{}
			e := &engine.Engine{
				Policy: p, Argv: []string{"true"}, Sink: out, Draw: rand.New(rand.NewPCG(seed, 0)).Float64,
				Starter:  &Starter{Steps: steps, Real: &real{}, Draw: rand.New(rand.NewPCG(seed, 1)).Float64, Number: number},
				Identity: engine.Identity{Random: func() uint64 { return 1 }},
			}
			e.Run(context.Background())
			got := out.String()
			if got != want {
				t.Errorf("%s, %+v:\nwalked\n%sran\n%s", strings.Join(list, ","), p, want, got)
			}
		})
		if t.Failed() {
			return
		}
	}
}

func TestAWalkWithoutLimitEnds(t *testing.T) {
	steps, _ := Parse("**75", number)
	if rows := strings.Count(walk(steps, policy(0), 1), "\n"); rows != MostRows {
		t.Errorf("%d rows", rows)
	}
}
