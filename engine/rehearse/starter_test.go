package rehearse

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// real counts what is really run.
type real struct{ runs []attempt.Spec }

func (r *real) Start(_ context.Context, spec attempt.Spec) attempt.Attempt {
	r.runs = append(r.runs, spec)
	return attempt.Call(func() attempt.Result { return attempt.Result{ExitCode: 42} })
}

func starter(t *testing.T, list string) (*Starter, *real) {
	t.Helper()
	steps, err := Parse(list, number)
	if err != nil {
		t.Fatal(err)
	}
	r := &real{}
	return &Starter{Steps: steps, Real: r, Draw: func() float64 { t.Error("a random number was drawn"); return 0 }}, r
}

// start makes an attempt as the loop does.
func start(ctx context.Context, s *Starter, spec attempt.Spec) attempt.Attempt {
	s.Prepare(spec.Number)
	return s.Start(ctx, spec)
}

func TestStarterFollowsTheSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := starter(t, "75:2s,KILL,timeout,run,timeout:1m,0")
		var codes []int
		for n := 1; n <= 7; n++ {
			begun := time.Now()
			result := start(context.Background(), s, attempt.Spec{Number: n, Timeout: 10 * time.Second}).Wait()
			codes = append(codes, result.ExitCode)
			took := time.Since(begun)
			want := map[int]time.Duration{1: 2 * time.Second, 5: 10 * time.Second}[n]
			if really := n == 4 || n == 7; took != want || result.Rehearsed == really || !really &&
				result.Duration != took {
				t.Errorf("attempt %d took %v: %+v", n, took, result)
			}
			if (n == 3 || n == 5) != result.TimedOut || (n == 2) != (result.Signal == "SIGKILL") {
				t.Errorf("attempt %d: %+v", n, result)
			}
		}
		want := []int{75, 137, 124, 42, 124, 0, 42}
		for i := range want {
			if codes[i] != want[i] {
				t.Errorf("codes %v, want %v", codes, want)
				break
			}
		}
		if len(r.runs) != 2 {
			t.Errorf("%d runs", len(r.runs))
		}
	})
}

// Hooks and the fallback are real, whatever the number of the attempt.
func TestHooksAreReal(t *testing.T) {
	s, r := starter(t, "**75")
	for _, streams := range []attempt.Streams{attempt.Aside, attempt.Instead} {
		start(context.Background(), s, attempt.Spec{Number: 1, Streams: streams}).Wait()
	}
	if len(r.runs) != 2 {
		t.Errorf("%d runs", len(r.runs))
	}
}

func TestAChanceIsDrawnOnceForEachAttempt(t *testing.T) {
	s, r := starter(t, "75,50%**1")
	draws := []float64{0.9, 0.1, 0.5}
	s.Draw = func() float64 { u := draws[0]; draws = draws[1:]; return u }
	for n, want := range []bool{true, false, true, false} {
		if s.Prepare(n+1) != want {
			t.Errorf("attempt %d pretends: %v", n+1, !want)
		}
		for copies := range 2 { // they draw nothing
			s.Start(context.Background(), attempt.Spec{Number: n + 1, Copy: copies})
		}
		if ran := len(r.runs); ran != 0 && want || ran != 2 && !want {
			t.Errorf("attempt %d: %d runs", n+1, ran)
		}
		r.runs = nil
	}
}

func TestLimitsOfAPretendedAttempt(t *testing.T) {
	for _, test := range []struct {
		step                   string
		timeout, idle, left    time.Duration
		code                   int
		timedOut, idled, ended bool
		takes                  time.Duration
	}{
		{"75:2s", 0, 0, -1, 75, false, false, false, 2 * time.Second},
		{"75:2s", 2 * time.Second, 0, -1, 75, false, false, false, 2 * time.Second},
		{"75:2s", time.Second, 0, -1, 124, true, false, false, time.Second},
		{"0:2s", 0, time.Second, -1, 124, true, true, false, time.Second},
		{"0:2s", 1500 * time.Millisecond, time.Second, -1, 124, true, true, false, time.Second},
		{"0:2s", time.Second, 1500 * time.Millisecond, -1, 124, true, false, false, time.Second},
		{"0:2s", 1500 * time.Millisecond, 0, time.Second, 124, false, false, true, time.Second},
		{"0", 0, 0, 0, 0, false, false, false, 0},
		{"75:2s", 1, 0, -1, 124, true, false, false, 1},
		{"75:2s", 0, 1, -1, 124, true, true, false, 1},
		{"75:2s", 0, 0, 0, 124, false, false, true, 0},
		{"75:2s", 0, 0, 2 * time.Second, 75, false, false, false, 2 * time.Second},
		{"timeout", 0, 0, -1, 124, true, false, false, 0},
	} {
		steps, err := Parse(test.step, number)
		if err != nil {
			t.Fatal(err)
		}
		r, takes := steps[0].outcome(test.timeout, test.idle, test.left)
		if r.ExitCode != test.code || r.TimedOut != test.timedOut || r.Idle != test.idled ||
			r.DeadlinePassed != test.ended || takes != test.takes {
			t.Errorf("%+v: %+v after %v", test, r, takes)
		}
	}
}

func TestAPretendedAttemptCanBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := starter(t, "**0:1h")
		cancelled := make(chan attempt.Signal, 1)
		s.Signals.Cancelled = cancelled
		time.AfterFunc(time.Minute, func() { cancelled <- "SIGTERM" })
		r := start(context.Background(), s, attempt.Spec{Number: 1}).Wait()
		if r.Cancelled != "SIGTERM" || r.Signal != "SIGTERM" || r.ExitCode != 143 || r.Duration != time.Minute {
			t.Errorf("%+v", r)
		}
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Minute, func() { cancel(cause) })
		if r := start(ctx, s, attempt.Spec{Number: 2}).Wait(); r.Err != cause {
			t.Errorf("%+v", r)
		}
		r = start(context.Background(), s, attempt.Spec{Number: 3, Deadline: time.Now()}).Wait()
		if !r.NotRun || !r.DeadlinePassed {
			t.Errorf("%+v", r)
		}
		r = start(context.Background(), s, attempt.Spec{Number: 4, Deadline: time.Now().Add(1)}).Wait()
		if r.NotRun || !r.DeadlinePassed || r.Duration != 1 {
			t.Errorf("%+v", r)
		}
	})
}

// closing counts what is closed.
type closing struct {
	io.Reader
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

// A file that is written is opened and closed for each writer.
func TestOutputIsClosed(t *testing.T) {
	s, _ := starter(t, "0")
	opened, closed := 0, 0
	open := func() (io.ReadCloser, error) { opened++; return closing{strings.NewReader("x"), &closed}, nil }
	s.Stdout = Output{Open: open, Direct: io.Discard}
	s.Stderr = Output{Open: open, Direct: io.Discard}
	start(context.Background(), s, attempt.Spec{Number: 1, Stdout: io.Discard}).Wait()
	if opened != 3 || closed != opened {
		t.Errorf("%d opened, %d closed", opened, closed)
	}
}

func TestWhatAPretendedAttemptWrites(t *testing.T) {
	for _, test := range []struct {
		held, released bool
		stdout, stderr string
	}{
		{false, true, "output", ""},
		{false, false, "output", ""},
		{true, true, "output", ""},
		{true, false, "", "output"},
	} {
		s, _ := starter(t, "75")
		var stdout, stderr, watcher bytes.Buffer
		s.Stdout = Output{Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("output")), nil
		}, Direct: &stdout}
		if test.held {
			s.Stdout.Direct, s.Stdout.Released, s.Stdout.Rejected = nil, &stdout, &stderr
		}
		a := start(context.Background(), s, attempt.Spec{Number: 1, Stdout: &watcher})
		a.Wait()
		if test.held && stdout.Len() > 0 {
			t.Errorf("%+v: not held back", test)
		}
		if err := a.Settle(test.released); err != nil {
			t.Error(err)
		}
		if stdout.String() != test.stdout || stderr.String() != test.stderr || watcher.String() != "output" {
			t.Errorf("%+v: %q, %q, watcher %q", test, stdout.String(), stderr.String(), watcher.String())
		}
	}
	s, _ := starter(t, "0")
	s.Stderr = Output{Open: func() (io.ReadCloser, error) { return nil, errors.New("gone") }, Direct: io.Discard}
	if r := start(context.Background(), s, attempt.Spec{Number: 1}).Wait(); r.Err == nil ||
		!strings.Contains(r.Err.Error(), "standard error of a rehearsal: gone") {
		t.Errorf("%+v", r)
	}
}
