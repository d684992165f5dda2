package plan

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/testdata/tries"
)

// ms is without a type: a constant of it is a time.Duration or a text.MS.
const ms = 1_000_000

func policy(kind backoff.JitterKind) engine.Policy {
	return engine.Policy{
		Attempts: 5,
		Schedule: backoff.Schedule{
			Curve: backoff.Exponential(2), Base: 100 * ms, Cap: 500 * ms, Jitter: backoff.Jitter{Kind: kind, P: 50},
		},
	}
}

func TestRows(t *testing.T) {
	for _, c := range []struct {
		name string
		kind backoff.JitterKind
		want []Row
	}{
		{"none", backoff.None, []Row{
			{1, 100 * ms, 100 * ms, 100 * ms, 100 * ms, 100 * ms, false},
			{2, 200 * ms, 200 * ms, 200 * ms, 200 * ms, 300 * ms, false},
			{3, 400 * ms, 400 * ms, 400 * ms, 400 * ms, 700 * ms, false},
			{4, 500 * ms, 500 * ms, 500 * ms, 500 * ms, 1200 * ms, false},
		}},
		{"full", backoff.Full, []Row{
			{1, 100 * ms, 0, 50 * ms, 100 * ms, 100 * ms, false}, {2, 200 * ms, 0, 100 * ms, 200 * ms, 300 * ms, false},
			{3, 400 * ms, 0, 200 * ms, 400 * ms, 700 * ms, false},
			{4, 500 * ms, 0, 250 * ms, 500 * ms, 1200 * ms, false},
		}},
		{"percent", backoff.Percent, []Row{
			{1, 100 * ms, 50 * ms, 100 * ms, 150 * ms, 150 * ms, false},
			{2, 200 * ms, 100 * ms, 200 * ms, 300 * ms, 450 * ms, false},
			{3, 400 * ms, 166_667_000, 333_333_000, 500 * ms, 950 * ms, false},
			{4, 500 * ms, 166_667_000, 333_333_000, 500 * ms, 1450 * ms, false},
		}},
	} {
		got := Rows(policy(c.kind))
		if len(got) != len(c.want) {
			t.Fatalf("%s: %d rows, want %d", c.name, len(got), len(c.want))
		}
		for i, w := range c.want {
			g := got[i]
			for _, pair := range [][2]text.MS{{g.Plain, w.Plain}, {g.Least, w.Least}, {g.Mean, w.Mean},
				{g.Greatest, w.Greatest}, {g.WorstCase, w.WorstCase}} {
				if diff := pair[0] - pair[1]; diff < -ms/1000 || diff > ms/1000 {
					t.Errorf("%s row %d: %+v, want %+v", c.name, i+1, g, w)
					break
				}
			}
		}
	}
}

func TestRowsEnd(t *testing.T) {
	p := policy(backoff.None)
	p.Attempts = 0
	if got := len(Rows(p)); got != 10 {
		t.Errorf("unlimited attempts: %d rows, want the first ten", got)
	}
	p.Attempts = 1
	if got := len(Rows(p)); got != 0 {
		t.Errorf("one attempt: %d rows", got)
	}
	p.Attempts, p.Deadline = 5, 300*ms
	if got := Rows(p); len(got) != 2 || got[1].PastDeadline {
		t.Errorf("deadline 300ms: %+v, want the two waits that end by then", got)
	}
	p.Schedule.Jitter.Kind = backoff.Full
	if got := Rows(p); len(got) != 4 || got[1].PastDeadline || !got[2].PastDeadline {
		t.Errorf("deadline 300ms with full jitter: %+v, want four waits, the last two marked", got)
	}
}

type failing struct{}

func (failing) Start(context.Context, attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result { return attempt.Result{ExitCode: 1} })
}
func (failing) Settle(bool) error { return nil }

type waits []time.Duration

func (w *waits) Emit(e event.Event) {
	if e, ok := e.(*event.RetryScheduled); ok {
		*w = append(*w, e.Jittered)
	}
}

// TestPlanMatchesRuns runs each policy 2,000 times by a fake clock: every wait
// lies between the least and the greatest of the plan, and their mean is the
// plan's within five standard errors of a uniform draw over that range.
func TestPlanMatchesRuns(t *testing.T) {
	runs := float64(tries.Of(500))
	for _, kind := range []backoff.JitterKind{backoff.Full, backoff.Equal, backoff.Decorrelated, backoff.None,
		backoff.Percent} {
		p := policy(kind)
		p.Schedule.MinDelay = 60 * ms
		p.Rules.Table = classify.BuiltIn
		plan := Rows(p)
		sums := make([]float64, len(plan))
		r := rand.New(rand.NewPCG(1, uint64(kind)))
		for range int(runs) {
			synctest.Test(t, func(t *testing.T) {
				var got waits
				e := engine.Config{Policy: p, Argv: []string{"x"}, Starter: failing{}, Emit: got.Emit,
					Draw: r.Float64, Identity: engine.Identity{Random: r.Uint64}}
				e.Run(context.Background())
				for i, w := range got {
					if w < time.Duration(plan[i].Least) || w > time.Duration(plan[i].Greatest) {
						t.Fatalf("jitter %d wait %d: %v outside %v to %v", kind, i+1, w, plan[i].Least,
							plan[i].Greatest)
					}
					sums[i] += float64(w)
				}
			})
		}
		for i, row := range plan {
			mean, spread := sums[i]/runs, float64(row.Greatest-row.Least)
			if math.Abs(mean-float64(row.Mean)) > 5*spread/math.Sqrt(12*runs)+2000 {
				t.Errorf("jitter %d wait %d: mean %v, plan %v", kind, i+1, time.Duration(mean), row.Mean)
			}
		}
	}
}
