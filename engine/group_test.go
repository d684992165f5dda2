package engine

// This file drives hedged attempts by a fake clock.

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/rotate"
)

// planned is what one copy does: its result, after a time; what it takes to end
// when it is ended; how writing its output goes.
type planned struct {
	after, dying time.Duration
	deaf         bool // no deadline ends it
	result       attempt.Result
	settling     error
}

// fakeCopy is one copy under way, or one that has ended.
type fakeCopy struct {
	planned
	starter    *copyStarter
	ctx        context.Context
	spec       attempt.Spec
	started    time.Time
	ended      time.Time
	lost       bool
	settlement string // released, rejected or dropped
}

// copyStarter is a starter of copies, which do as planned in the order in which
// they start; the last plan is repeated.
type copyStarter struct {
	most   int // copies
	plans  []planned
	copies []*fakeCopy
	signal chan attempt.Signal // closed when it has reached all copies
	sent   attempt.Signal
}

func (s *copyStarter) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	f := &fakeCopy{planned: s.plans[min(len(s.copies), len(s.plans)-1)], starter: s, ctx: ctx, spec: spec,
		started: time.Now()}
	s.copies = append(s.copies, f)
	return f
}

func (f *fakeCopy) Wait() attempt.Result {
	r := f.result
	limit, deadline := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	if f.spec.Timeout > 0 {
		limit = f.spec.Timeout
	}
	if !f.spec.Deadline.IsZero() && !f.deaf {
		deadline = time.Until(f.spec.Deadline)
	}
	select {
	case <-time.After(f.after):
	case <-time.After(limit):
		r = attempt.Result{TimedOut: true, ExitCode: 124}
	case <-time.After(deadline):
		r = attempt.Result{DeadlinePassed: true, ExitCode: 124}
		time.Sleep(f.dying)
	case <-f.starter.signal:
		if r.Cancelled = f.starter.sent; r.ExitCode != 0 {
			r = attempt.Result{Cancelled: f.starter.sent, Signal: f.starter.sent, ExitCode: 143}
		}
		time.Sleep(f.dying)
	case <-f.ctx.Done():
		f.lost = context.Cause(f.ctx) == attempt.ErrLost
		r = attempt.Result{Signal: "SIGTERM", ExitCode: 143}
		select {
		case <-time.After(f.dying):
		case <-f.starter.signal:
			r.Cancelled = f.starter.sent
		}
	}
	f.ended = time.Now()
	r.Duration = f.ended.Sub(f.started)
	return r
}

func (f *fakeCopy) end(settlement string) {
	if f.settlement != "" {
		panic("copy settled twice: " + f.settlement + ", " + settlement)
	}
	f.settlement = settlement
}

func (f *fakeCopy) Settle(released bool) error {
	f.end(map[bool]string{true: "released", false: "rejected"}[released])
	return f.settling
}

func (f *fakeCopy) Drop() { f.end("dropped") }

func (s *copyStarter) settlements() string {
	var all []string
	for _, f := range s.copies {
		all = append(all, f.settlement)
	}
	return strings.Join(all, " ")
}

// startedAt are the times of the copies' starts, in ms since the first.
func (s *copyStarter) startedAt() (at []int) {
	for _, f := range s.copies {
		at = append(at, int(f.started.Sub(s.copies[0].started).Milliseconds()))
	}
	return at
}

const (
	ms   = time.Millisecond
	ever = 1000 * time.Hour
)

func newHedged(most int, delay time.Duration, plans ...planned) (*Config, *copyStarter, *record) {
	e, _, r := newConfig()
	s := &copyStarter{plans: plans, most: most, signal: make(chan attempt.Signal)}
	e.Starter = s
	e.Policy.HedgeDelay, e.Policy.HedgeMax = delay, most
	e.Policy.Attempts = 1
	return e, s, r
}

// checkCopies checks what holds in every hedged run: each copy has one start
// and one event of its end, its output went somewhere, once, and of each attempt
// at most one copy was released or rejected.
func checkCopies(t *testing.T, s *copyStarter, r *record) {
	t.Helper()
	open, settled, numbers := map[string]bool{}, map[int]string{}, map[int]int{}
	for _, ev := range r.events {
		at := func(w event.Which) string { return fmt.Sprint(ev.Head().Attempt, ".", w.Copy) }
		switch ev := ev.(type) {
		case *event.AttemptStarted:
			open[at(ev.Which)] = true
		case *event.AttemptFinished:
			if !open[at(ev.Which)] {
				t.Errorf("copy %s ended twice", at(ev.Which))
			}
			delete(open, at(ev.Which))
		case *event.AttemptCancelled:
			if !open[at(ev.Which)] {
				t.Errorf("copy %s ended twice", at(ev.Which))
			}
			delete(open, at(ev.Which))
		case *event.RetryScheduled, *event.RunFinished:
			if len(open) > 0 {
				t.Errorf("%s while copies run: %v", kind(ev), open)
			}
		}
	}
	for _, f := range s.copies {
		if f.spec.Copy != numbers[f.spec.Number] || f.spec.Copy >= s.most {
			t.Errorf("copy %d of attempt %d came after %d others, with at most %d", f.spec.Copy, f.spec.Number,
				numbers[f.spec.Number], s.most)
		}
		numbers[f.spec.Number]++
		switch f.settlement {
		case "":
			t.Errorf("copy %d of attempt %d was never settled", f.spec.Copy, f.spec.Number)
		case "released", "rejected":
			if settled[f.spec.Number] != "" {
				t.Errorf("attempt %d was settled twice", f.spec.Number)
			}
			settled[f.spec.Number] = f.settlement
		}
	}
}

// The cases of gRPC's proposal A6; see testdata/hedging.json.
func TestHedgeVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/hedging.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			Name, Result         string
			Max, Delay, Deadline int
			Answers              [][3]any
			SentAt               []int `json:"sent_at"`
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	results := map[string]attempt.Result{"ok": exit0, "nonfatal": exit1, "fatal": exit75}
	for _, c := range vectors.Cases {
		synctest.Test(t, func(t *testing.T) {
			plans := slices.Repeat([]planned{{after: time.Hour, result: exit0}}, c.Max)
			for _, a := range c.Answers { // their times count from the begin of the attempt
				n := int(a[1].(float64))
				plans[n] = planned{after: time.Duration(a[0].(float64))*ms - time.Duration(c.SentAt[n])*ms,
					result: results[a[2].(string)]}
			}
			e, s, r := newHedged(c.Max, time.Duration(c.Delay)*ms, plans...)
			e.Policy.Rules.StopOnExit, _ = classify.ParseExits("75")
			e.Policy.Deadline = time.Duration(c.Deadline) * ms
			begun := time.Now()
			e.Run(context.Background())
			checkCopies(t, s, r)
			if !slices.Equal(s.startedAt(), c.SentAt) {
				t.Errorf("%s: started at %v, want %v", c.Name, s.startedAt(), c.SentAt)
			}
			got := ""
			for _, ev := range r.events {
				switch ev := ev.(type) {
				case *event.AttemptFinished:
					if how := map[int]string{0: "ok", 75: "fatal"}[ev.Result.ExitCode]; how != "" {
						got = fmt.Sprintf("%s at %d", how, time.Since(begun).Milliseconds())
					}
				case *event.AttemptCancelled:
					got += fmt.Sprintf(", attempt %d cancelled", ev.Copy)
				case *event.RunFinished:
					if ev.Outcome == event.Deadline {
						got = fmt.Sprintf("deadline at %d", time.Since(begun).Milliseconds())
					}
				}
			}
			if c.Result != "" && got != c.Result {
				t.Errorf("%s: %q, want %q", c.Name, got, c.Result)
			}
		})
	}
}

// A delay beyond all times never ends.
func TestLongestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(2, math.MaxInt64, planned{after: ever, result: exit0})
		time.Sleep(time.Second)
		e.Run(context.Background())
		if checkCopies(t, s, r); len(s.copies) != 1 {
			t.Errorf("%d copies", len(s.copies))
		}
	})
}

func TestHedgeReleasesTheWinnerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(3, 100*ms, planned{after: ever, dying: 3 * time.Second},
			planned{after: 50 * ms, result: exit0})
		begun := time.Now()
		if end := e.Run(context.Background()); end != (End{}) {
			t.Errorf("ended with %+v", end)
		}
		checkCopies(t, s, r)
		if s.settlements() != "dropped released" || !s.copies[0].lost {
			t.Errorf("settlements: %s", s.settlements())
		}
		if took := time.Since(begun); took != 3150*ms {
			t.Errorf("the run took %v, want the time that the loser took to end", took)
		}
		want := "run_started attempt_started attempt_started attempt_finished attempt_cancelled run_finished"
		if r.kinds() != want {
			t.Errorf("events: %s, want %s", r.kinds(), want)
		}
		lost := r.events[4].(*event.AttemptCancelled)
		if lost.Copy != 0 || lost.Result.Signal != "SIGTERM" || lost.Elapsed != 3150*ms {
			t.Errorf("lost: %+v", lost)
		}
		won := r.events[3].(*event.AttemptFinished)
		if !won.Hedged || won.Copy != 1 || !won.Success || won.Result.Duration != 50*ms || won.Elapsed != 150*ms {
			t.Errorf("won: %+v", won)
		}
	})
}

// All copies fail: the attempt failed as the last to end did, and the loop goes
// on with its wait.
func TestHedgeOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(3, 100*ms, planned{after: 150 * ms, result: exit75},
			planned{after: 300 * ms, result: killed}, planned{after: 20 * ms, result: exit1})
		e.Policy.Attempts = 2
		e.Run(context.Background())
		checkCopies(t, s, r)
		// Attempt 1: the third copy starts at once when the first fails at 150 and
		// fails itself at 170; the second ends last, at 400. Attempt 2, a second
		// later: each of its copies fails after 20.
		if want := []int{0, 100, 150, 1400, 1420, 1440}; !slices.Equal(s.startedAt(), want) {
			t.Errorf("started at %v, want %v", s.startedAt(), want)
		}
		if want := "dropped rejected dropped dropped dropped rejected"; s.settlements() != want {
			t.Errorf("settlements: %s, want %s", s.settlements(), want)
		}
		if last := r.last(); last.Attempts != 2 || last.ExitCode != 1 || last.Outcome != event.Exhausted {
			t.Errorf("ended: %+v", last)
		}
		if env := s.copies[3].spec.Env; !slices.Contains(env, "RETRY_LAST_EXIT=137") ||
			!slices.Contains(env, "RETRY_ATTEMPT=2") {
			t.Errorf("attempt 2 sees %v", env)
		}
	})
}

// What would not be retried ends the group, also beside others that run.
func TestHedgeIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(3, 100*ms, planned{after: ever}, planned{after: 50 * ms, result: exit75})
		e.Policy.Attempts = 5
		e.Policy.Rules.StopOnExit, _ = classify.ParseExits("75")
		end := e.Run(context.Background())
		checkCopies(t, s, r)
		if end.Code != 75 || s.settlements() != "dropped rejected" || r.last().Outcome != event.Stopped ||
			r.last().Attempts != 1 {
			t.Errorf("ended with %+v, %s: %+v", end, s.settlements(), r.last())
		}
	})
}

// --timeout limits each copy from its own start, --deadline all of them.
func TestHedgeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(2, 100*ms, planned{after: ever})
		e.Policy.Timeout = 250 * ms
		begun := time.Now()
		end := e.Run(context.Background())
		checkCopies(t, s, r)
		if end.Code != 124 || time.Since(begun) != 350*ms || s.settlements() != "dropped rejected" {
			t.Errorf("ended with %+v after %v, %s", end, time.Since(begun), s.settlements())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(4, 100*ms, planned{after: ever, dying: time.Second}, planned{after: ever})
		e.Policy.Deadline, e.Policy.Attempts = 250*ms, 5
		begun := time.Now()
		end := e.Run(context.Background())
		checkCopies(t, s, r)
		if end.Code != 124 || time.Since(begun) != 1250*ms || s.settlements() != "rejected dropped dropped" ||
			r.last().Outcome != event.Deadline || s.copies[0].lost {
			t.Errorf("ended with %+v after %v, %s: %+v", end, time.Since(begun), s.settlements(), r.last())
		}
	})
	// What ends by itself as the deadline passes gets no further copy.
	for _, notRun := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e, s, r := newHedged(2, time.Hour, planned{after: 300 * ms, deaf: true, result: exit75},
				planned{result: attempt.Result{NotRun: true, DeadlinePassed: true, ExitCode: 124}})
			e.Policy.Deadline, e.Policy.Attempts = 250*ms, 5
			want := 1
			if notRun { // the deadline comes between the look at it and the start
				e.Policy.Deadline, want = time.Second, 2
			}
			end := e.Run(context.Background())
			checkCopies(t, s, r)
			if end.Code != 75 || len(s.copies) != want || s.copies[0].settlement != "rejected" ||
				r.last().Outcome != event.Deadline {
				t.Errorf("ended with %+v, %s: %+v", end, s.settlements(), r.last())
			}
		})
	}
}

// A signal reaches all copies, and each has the time that it needs; the first
// that exits with 0 decides the attempt, else the last to end.
func TestHedgeIsCancelled(t *testing.T) {
	for _, test := range []struct {
		plans       []planned
		settlements string
		code        int
	}{
		{[]planned{{after: ever, result: exit1}, {after: ever, result: exit1, dying: time.Second}},
			"dropped rejected", 143},
		{[]planned{{after: ever, result: exit1, dying: time.Second}, {after: ever, result: exit1}},
			"rejected dropped", 143},
		{[]planned{{after: ever, result: exit0}, {after: ever, result: exit1, dying: time.Second}},
			"released dropped", 0},
		{[]planned{{after: ever, result: exit1}, {after: ever, result: exit0, dying: time.Second}},
			"dropped released", 0},
		{[]planned{{after: 110 * ms, result: exit1}, {after: ever, result: exit1},
			{after: ever, result: exit1, dying: time.Second}}, "dropped dropped rejected", 143},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, s, r := newHedged(3, 100*ms, test.plans...)
			e.Policy.Attempts = 5
			time.AfterFunc(150*ms, func() { s.sent = "SIGTERM"; close(s.signal) })
			end := e.Run(context.Background())
			checkCopies(t, s, r)
			if s.settlements() != test.settlements || end.Code != test.code || r.last().Outcome != event.Cancelled ||
				r.last().Attempts != 1 {
				t.Errorf("ended with %+v, %s: %+v", end, s.settlements(), r.last())
			}
			if slices.ContainsFunc(s.copies, func(f *fakeCopy) bool { return f.lost }) {
				t.Error("a copy was ended beside the signal")
			}
		})
	}
}

// A signal that reaches the losers came after the attempt: it matters if
// another attempt would follow.
func TestSignalWhileLosersEnd(t *testing.T) {
	for _, more := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e, s, r := newHedged(2, 100*ms, planned{after: ever, result: exit1, dying: time.Second},
				planned{after: 50 * ms, result: exit0})
			e.Policy.Attempts = 5
			want, settlements := End{}, "dropped released"
			if more {
				e.Policy.Consecutive = 2
				want, settlements = End{Code: 143, Signal: "SIGTERM"}, "dropped rejected"
			}
			time.AfterFunc(500*ms, func() { s.sent = "SIGTERM"; close(s.signal) })
			end := e.Run(context.Background())
			checkCopies(t, s, r)
			if end != want || s.settlements() != settlements || len(s.copies) != 2 {
				t.Errorf("ended with %+v, %s: %+v", end, s.settlements(), r.last())
			}
		})
	}
}

// A signal that comes when no copy runs, since the gate is asked for the next
// one, ends the run.
func TestSignalBetweenCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(2, 100*ms, planned{after: 50 * ms, result: exit1})
		cancelled := make(chan attempt.Signal, 1)
		e.Signals.Cancelled, e.Admission = cancelled, (&shop{copies: 9, takes: time.Hour}).admission()
		time.AfterFunc(60*ms, func() { cancelled <- "SIGTERM" })
		begun := time.Now()
		end := e.Run(context.Background())
		checkCopies(t, s, r)
		if end.Signal != "SIGTERM" || r.last().Outcome != event.Cancelled || time.Since(begun) != 80*ms ||
			s.settlements() != "rejected" {
			t.Errorf("ended with %+v after %v, %s: %+v", end, time.Since(begun), s.settlements(), r.last())
		}
	})
}

// An attempt's time is that of all its copies: one that lasted starts the
// schedule again.
func TestHedgeAndResetAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(2, 900*ms, planned{after: 500 * ms, result: exit1})
		e.Policy.Attempts, e.Policy.ResetAfter = 4, time.Second
		e.Run(context.Background())
		checkCopies(t, s, r)
		for _, ev := range r.events {
			switch ev := ev.(type) {
			case *event.RetryScheduled:
				if ev.Delay != time.Second {
					t.Errorf("a wait of %v after attempt %d", ev.Delay, ev.Attempt)
				}
			case *event.AttemptFinished:
				if ev.Result.Duration != 500*ms {
					t.Errorf("a copy took %v", ev.Result.Duration)
				}
			}
		}
	})
}

// Output that cannot be written decides like that of any attempt.
func TestHedgeWithoutAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(2, 100*ms, planned{after: ever},
			planned{after: 50 * ms, result: exit0, settling: attempt.ErrReaderGone})
		if end := e.Run(context.Background()); end.Signal != "SIGPIPE" {
			t.Errorf("ended with %+v", end)
		}
		checkCopies(t, s, r)
	})
}

// A success ends the attempt, not the run, if more are asked for.
func TestHedgeAndConsecutive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(2, 100*ms, planned{after: 150 * ms, result: exit0}, planned{after: 20 * ms, result: exit0})
		e.Policy.Attempts, e.Policy.Consecutive = 5, 2
		e.Run(context.Background())
		checkCopies(t, s, r)
		if s.settlements() != "dropped rejected released" || r.last().Attempts != 2 ||
			r.last().Outcome != event.Succeeded {
			t.Errorf("%s: %+v", s.settlements(), r.last())
		}
	})
}

// Guards are asked for every copy, without delay for those that run, and get a
// report of each: ended losers count neither way.
func TestHedgeAsksTheGate(t *testing.T) {
	for _, test := range []struct {
		name    string
		shop    *shop
		plans   []planned
		started []int
		asked   []copyAsked
		reports []guard.Outcome
		kinds   string
	}{
		{
			"slow answers do not hold up the winner",
			&shop{copies: 9, takes: 400 * ms}, []planned{{after: 200 * ms, result: exit0}},
			[]int{0}, []copyAsked{{1, false}}, []guard.Outcome{guard.Success}, "",
		},
		{
			"a failure while the gate is asked",
			&shop{copies: 1, takes: 200 * ms},
			[]planned{{after: 150 * ms, result: exit1}, {after: 10 * ms, result: exit1}},
			[]int{0, 300}, []copyAsked{{1, false}, {1, false}}, []guard.Outcome{guard.Failure, guard.Failure},
			"guard_refused",
		},
		{
			"a loser counts neither way",
			&shop{copies: 2}, []planned{{after: ever}, {after: 50 * ms, result: exit1},
				{after: 10 * ms, result: exit0}},
			[]int{0, 100, 150}, []copyAsked{{1, false}, {1, false}},
			[]guard.Outcome{guard.Failure, guard.Success, guard.Neither}, "attempt_cancelled",
		},
		{
			"a refused copy has had its turn",
			&shop{copies: 0}, []planned{{after: 450 * ms, result: exit0}},
			[]int{0}, []copyAsked{{1, false}, {1, false}}, []guard.Outcome{guard.Success},
			"guard_refused guard_refused",
		},
		{
			"refused when nothing runs",
			&shop{copies: 0}, []planned{{after: 50 * ms, result: exit1}},
			[]int{0}, []copyAsked{{1, false}}, []guard.Outcome{guard.Failure}, "guard_refused",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, s, r := newHedged(3, 100*ms, test.plans...)
			e.Admission = test.shop.admission()
			e.Run(context.Background())
			checkCopies(t, s, r)
			if !slices.Equal(s.startedAt(), test.started) || !slices.Equal(test.shop.asked, test.asked) ||
				!slices.Equal(test.shop.reports, test.reports) || test.shop.open != 0 {
				t.Errorf("%s: started %v, asked %v, reports %v, %d passes left", test.name, s.startedAt(),
					test.shop.asked, test.shop.reports, test.shop.open)
			}
			kinds := strings.Fields(r.kinds())
			kinds = slices.DeleteFunc(kinds, func(k string) bool {
				return k != "guard_refused" && k != "attempt_cancelled"
			})
			if strings.Join(kinds, " ") != test.kinds {
				t.Errorf("%s: %v, want %s", test.name, kinds, test.kinds)
			}
		})
	}
}

// A copy that follows a timeout costs what a retry after one does.
func TestGateKnowsOfTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(2, time.Hour, planned{after: ever}, planned{result: exit0})
		k := &shop{copies: 1}
		e.Admission, e.Policy.Timeout = k.admission(), time.Second
		e.Run(context.Background())
		checkCopies(t, s, r)
		if !slices.Equal(k.asked, []copyAsked{{1, true}}) ||
			!slices.Equal(k.reports, []guard.Outcome{guard.Failure, guard.Success}) {
			t.Errorf("asked %v, reports %v", k.asked, k.reports)
		}
	})
}

func TestHedgeEnvironment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(3, 100*ms, planned{after: 250 * ms, result: exit1}, planned{after: ever},
			planned{after: 10 * ms, result: exit0})
		spans := uint64(0)
		e.Identity.Random = func() uint64 { spans += 2; return spans }
		e.Identity.Environ = []string{"RETRY_COPY=7", "RETRY_USE_HOST=x", "RETRY_USE_OTHER=y"}
		l, err := rotate.Parse("host=a,b")
		if err != nil {
			t.Fatal(err)
		}
		e.Policy.Rotate, e.Argv = []rotate.List{l}, []string{"curl", "{host}"}
		e.Run(context.Background())
		checkCopies(t, s, r)
		seen := map[string]bool{}
		for i, f := range s.copies {
			value := []string{"a", "b", "a"}[i]
			for _, want := range []string{fmt.Sprint("RETRY_COPY=", i), "RETRY_IDEMPOTENCY_KEY=key",
				"RETRY_ATTEMPT=1", "RETRY_USE_HOST=" + value, "RETRY_USE_OTHER=y"} {
				if !slices.Contains(f.spec.Env, want) {
					t.Errorf("copy %d lacks %s: %v", i, want, f.spec.Env)
				}
			}
			if got := strings.Count(strings.Join(f.spec.Env, "\n"), "RETRY_USE_HOST") +
				strings.Count(strings.Join(f.spec.Env, "\n"), "RETRY_COPY"); got != 2 {
				t.Errorf("copy %d sees a variable twice: %v", i, f.spec.Env)
			}
			for _, entry := range f.spec.Env {
				if strings.HasPrefix(entry, "TRACEPARENT=") {
					seen[entry] = true
				}
			}
			if f.spec.Copy != i || f.spec.Streams != attempt.Held || f.spec.Argv[1] != value {
				t.Errorf("copy %d: %+v", i, f.spec)
			}
		}
		if len(seen) != 3 {
			t.Errorf("spans: %v", seen)
		}
		if started := r.events[2].(*event.AttemptStarted); started.Copy != 1 || started.Use["host"] != "b" {
			t.Errorf("started: %+v", started)
		}
	})
}

// TestHedgeStress runs thousands of groups of random copies under random
// limits, signals and gates: what checkCopies promises holds for each, every
// copy is gone before the run continues, and the code is that of the end.
func TestHedgeStress(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 0))
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	results := []attempt.Result{exit0, exit1, exit1, exit75, killed}
	winners := 0
	for range 3000 {
		synctest.Test(t, func(t *testing.T) {
			var plans []planned
			for range 8 {
				plans = append(plans, planned{after: upTo(time.Second), dying: upTo(100 * ms),
					result: results[random.IntN(len(results))]})
			}
			e, s, r := newHedged(2+random.IntN(4), upTo(300*ms)+1, plans...)
			e.Policy.Attempts = 1 + random.IntN(3)
			e.Policy.Schedule.Curve, e.Policy.Schedule.Base = backoff.Constant, upTo(time.Second)
			e.Policy.Rules.StopOnExit, _ = classify.ParseExits("75")
			cancelled := make(chan attempt.Signal, 1)
			e.Signals.Cancelled = cancelled
			if random.IntN(3) == 0 {
				e.Policy.Timeout = 1 + upTo(time.Second)
			}
			if random.IntN(3) == 0 {
				e.Policy.Deadline = 1 + upTo(2*time.Second)
			}
			var k *shop
			if random.IntN(3) == 0 {
				k = &shop{copies: random.IntN(6), takes: upTo(200 * ms)}
				e.Admission = k.admission()
			}
			if random.IntN(3) == 0 {
				time.AfterFunc(upTo(2*time.Second), func() {
					s.sent = "SIGTERM"
					close(s.signal)
					cancelled <- "SIGTERM"
				})
			}
			end := e.Run(context.Background())
			over := time.Now()
			checkCopies(t, s, r)
			for _, f := range s.copies {
				if f.ended.IsZero() || f.ended.After(over) {
					t.Errorf("a copy runs on")
				}
			}
			if k != nil && k.open != 0 {
				t.Errorf("%d passes were not reported", k.open)
			}
			released := strings.Count(s.settlements(), "released")
			if (end.Code == 0) != (released == 1) || (r.last().Outcome == event.Succeeded) && end.Code != 0 ||
				r.last().ExitCode != end.Code {
				t.Errorf("ended with %+v, %s: %+v", end, s.settlements(), r.last())
			}
			winners += released
			synctest.Wait()
		})
	}
	if winners < 300 || winners > 2900 {
		t.Errorf("%d of 3000 runs had a winner: the histories are too much alike", winners)
	}
}
