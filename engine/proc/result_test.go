//go:build unix

package proc

// This file tests what an attempt's result and a run's output are decided from.

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
)

// The result says how the command ended, unless a limit or an error of the program itself
// is why.
func TestConclusion(t *testing.T) {
	lost, dropped := errors.New("lost"), errors.New("dropped")
	past, future := time.Now().Add(-time.Second), time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		how      process.Ending
		result   attempt.Result
		deadline time.Time
		dropped  error
		probe    bool
		want     attempt.Result
		err      string
		says     string
	}{
		"an exit": {how: process.Ending{Code: 3}, want: attempt.Result{ExitCode: 3}},
		"a signal": {how: process.Ending{Signal: syscall.SIGTERM},
			want: attempt.Result{ExitCode: 143, Signal: "SIGTERM"}},
		"an exit at the limit": {how: process.Ending{Code: 3}, result: attempt.Result{TimedOut: true},
			want: attempt.Result{ExitCode: 124, TimedOut: true}},
		"a signal at the limit": {how: process.Ending{Signal: syscall.SIGKILL},
			result: attempt.Result{TimedOut: true}, deadline: future,
			want: attempt.Result{ExitCode: 124, Signal: "SIGKILL", TimedOut: true}},
		"both limits": {how: process.Ending{Code: 3}, result: attempt.Result{TimedOut: true},
			deadline: past, want: attempt.Result{ExitCode: 124, TimedOut: true, DeadlinePassed: true}},
		"the deadline": {how: process.Ending{Code: 3},
			result: attempt.Result{DeadlinePassed: true}, deadline: past,
			want: attempt.Result{ExitCode: 124, DeadlinePassed: true}},
		"an exit before the deadline": {how: process.Ending{Code: 3}, deadline: past,
			want: attempt.Result{ExitCode: 3}},
		"a status that is not known": {how: process.Ending{Err: lost}, want: attempt.Result{ExitCode: 125},
			err: "waiting for the command: lost"},
		"one, after another error": {how: process.Ending{Err: lost}, result: attempt.Result{Err: dropped},
			want: attempt.Result{ExitCode: 125}, err: "dropped"},
		"a success with dropped output": {dropped: dropped, want: attempt.Result{ExitCode: 125}, err: "dropped"},
		"a failure with dropped output": {how: process.Ending{Code: 3}, dropped: dropped,
			want: attempt.Result{ExitCode: 3}, says: "dropped"},
		"an error, and dropped output": {result: attempt.Result{Err: lost}, dropped: dropped,
			want: attempt.Result{ExitCode: 125}, err: "lost"},
		"a limit, and dropped output": {result: attempt.Result{TimedOut: true}, dropped: dropped,
			want: attempt.Result{ExitCode: 124, TimedOut: true}, says: "dropped"},
		"KILL": {how: process.Ending{Signal: syscall.SIGKILL},
			want: attempt.Result{ExitCode: 137, Signal: "SIGKILL", OOMKills: 2}},
		"KILL for a probe": {how: process.Ending{Signal: syscall.SIGKILL}, probe: true,
			want: attempt.Result{ExitCode: 137, Signal: "SIGKILL"}},
		"KILL at the deadline": {how: process.Ending{Signal: syscall.SIGKILL},
			result: attempt.Result{DeadlinePassed: true},
			want:   attempt.Result{ExitCode: 124, Signal: "SIGKILL", DeadlinePassed: true}},
		"KILL after a cancel": {how: process.Ending{Signal: syscall.SIGKILL},
			result: attempt.Result{Cancelled: "SIGTERM"},
			want:   attempt.Result{ExitCode: 137, Signal: "SIGKILL", Cancelled: "SIGTERM"}},
		"PIPE": {how: process.Ending{Signal: syscall.SIGPIPE},
			want: attempt.Result{ExitCode: 141, Signal: "SIGPIPE", ReaderGone: true}},
		"an exit as by PIPE": {how: process.Ending{Code: 141}, want: attempt.Result{ExitCode: 141, ReaderGone: true}},
		"one, of a probe":    {how: process.Ending{Code: 141}, probe: true, want: attempt.Result{ExitCode: 141}},
		"a cancel does not count as limit": {how: process.Ending{Code: 3},
			result: attempt.Result{Cancelled: "SIGTERM"}, deadline: past,
			want: attempt.Result{ExitCode: 3, Cancelled: "SIGTERM"}},
	} {
		var says string
		a := &running{
			Runner: &Runner{
				warning: &reporter{to: func(line string) { says += line }}, probe: c.probe,
				oomKills: func() int { return 2 }, noReader: func() bool { return true },
			},
			result: c.result, dropped: c.dropped,
		}
		a.spec.Deadline = c.deadline
		a.conclude(c.how)
		a.warning.flush()
		got := a.result
		err := ""
		if got.Err != nil {
			err = got.Err.Error()
		}
		got.Err = nil
		if got != c.want || err != c.err || says != c.says {
			t.Errorf("%s: %+v, %q, says %q; want %+v, %q, %q", name, got, err, says, c.want, c.err, c.says)
		}
	}
}

// Three of INT and TERM kill the tree, and so does the first that comes after the end of the
// command, unless one came before.
func TestInterrupts(t *testing.T) {
	const hup, intr, term = syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM
	for _, c := range []struct {
		over      bool
		cancelled attempt.Signal
		sent      []syscall.Signal
		killed    int // times
		late      bool
		again     bool
	}{
		{false, "", []syscall.Signal{intr, term}, 0, false, false},
		{false, "", []syscall.Signal{intr, term, intr}, 1, false, false},
		{false, "", []syscall.Signal{intr, hup, syscall.SIGQUIT, hup, term}, 0, false, false},
		{true, "", []syscall.Signal{syscall.SIGUSR1}, 0, false, false},
		{true, "", []syscall.Signal{hup}, 1, true, false},
		{true, "SIGTERM", []syscall.Signal{intr, hup, term}, 0, true, true},
		{true, "SIGTERM", []syscall.Signal{intr, intr, term}, 1, true, true},
	} {
		killed := 0
		a := &running{
			over: c.over, result: attempt.Result{Cancelled: c.cancelled}, skipGrace: func() { killed++ },
			escalated: make(chan struct{}), // the tree is being ended
		}
		for _, sig := range c.sent {
			if !c.over {
				a.countInterrupt(sig)
			} else if taken := a.handleSignal(sig); taken != (c.cancelled != "") {
				t.Errorf("%+v: %v was the attempt's: %t", c, sig, taken)
			}
		}
		if killed != c.killed || a.late != c.late || a.result.CancelledAgain != c.again ||
			a.result.Cancelled != c.cancelled {
			t.Errorf("%+v: killed %d, late %t, %+v", c, killed, a.late, a.result)
		}
	}
}

// heldBack is output that is kept.
type heldBack struct{ released, dropped int }

var errFull = errors.New("full")

func (h *heldBack) Release() error { h.released++; return errFull }
func (h *heldBack) Drop()          { h.dropped++ }

// The output of the last attempt is kept, and written once if the run gives up.
func TestKept(t *testing.T) {
	var first, second, third, last heldBack
	r := new(Runner)
	if err := r.EndOutput(true); err != nil {
		t.Error(err)
	}
	r.Keep(&first)
	r.Keep(&second)
	if err := r.EndOutput(false); err != nil {
		t.Error(err)
	}
	r.Keep(&third)
	if err := r.EndOutput(true); err != errFull {
		t.Error(err)
	}
	if err := r.EndOutput(true); err != nil {
		t.Error(err)
	}
	r.Keep(&last)
	if err := r.EndOutput(false); err != nil || last != (heldBack{dropped: 1}) {
		t.Errorf("%v, %+v", err, last)
	}
	if dropped := (heldBack{dropped: 1}); first != dropped || second != dropped || third != (heldBack{released: 1}) {
		t.Errorf("%+v %+v %+v", first, second, third)
	}
}

// releasing is output whose writing ends in an error.
type releasing struct {
	err    error
	ending int32 // how many ends were under way
}

func (r *releasing) Release(isEnding func() bool) error {
	r.ending = signals.Ending.Load()
	if isEnding() {
		return errors.New("no signal has come")
	}
	return r.err
}
func (r *releasing) Drop() {}

// A reader that was given up is told of, and any other error is one of the run.
func TestReleaseOfKeptOutput(t *testing.T) {
	for _, err := range []error{nil, errFull, stdio.ErrStuck} {
		var says atomic.Value
		r := New(Config{Warn: func(line string) {
			time.Sleep(5 * time.Millisecond)
			says.Store(line)
		}}, signals.New())
		output := &releasing{err: err}
		before := signals.Ending.Load()
		got := (&kept{r, output}).Release()
		if err == stdio.ErrStuck {
			if line := says.Load(); got != nil || line != err.Error() {
				t.Errorf("%v, says %q", got, line)
			}
		} else if got != err {
			t.Errorf("%v, want %v", got, err)
		}
		if now := signals.Ending.Load(); output.ending != before+1 || now != before {
			t.Errorf("%d ends were under way, then %d, now %d", before, output.ending, now)
		}
	}
}

// The lines for the user have been written when the result is there.
func TestLinesComeBeforeTheResult(t *testing.T) {
	var said atomic.Int32
	slow := func(string) {
		time.Sleep(5 * time.Millisecond)
		said.Add(1)
	}
	r := New(Config{Warn: slow, Detail: slow}, signals.New())
	r.probe = true // it adopts no processes
	for want := range int32(3) {
		said.Store(0)
		r.warning, r.detail = &reporter{to: slow}, &reporter{to: slow}
		a := r.enter(t.Context(), attempt.Spec{Argv: []string{"/no/such"}})
		a.start()
		if want >= 1 {
			a.detail.say("a detail")
		}
		if want == 2 {
			a.warning.say("a warning")
		}
		a.Wait()
		if got := said.Load(); got != want {
			t.Errorf("%d lines, want %d", got, want)
		}
		_ = a.Settle(true)
	}
}

// An error of the program's own ends the command, while it runs, and one that comes last is not
// lost.
func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		comes  []error
		result attempt.Result
	}{
		{nil, attempt.Result{}},
		{[]error{attempt.ErrReaderGone}, attempt.Result{ReaderGone: true}},
		{[]error{errFull}, attempt.Result{Err: errFull}},
		{[]error{errFull, attempt.ErrReaderGone, errors.New("later")}, attempt.Result{Err: errFull, ReaderGone: true}},
	} {
		a := &running{over: true, streams: &stdio.Streams{Troubles: make(chan error, 3)}}
		for _, err := range c.comes {
			a.streams.Troubles <- err
		}
		if a.lastTroubles(); a.result != c.result || a.escalated != nil {
			t.Errorf("%v: %+v", c.comes, a.result)
		}
	}
}

// The first line for the user is written without the caller, and waited for at the end.
func TestReporter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		reader, flushed := make(chan struct{}), false
		r := &reporter{to: func(line string) {
			<-reader
			lines = append(lines, line)
		}}
		r.flush() // there is no line
		r.say("one")
		r.say("two")
		go func() {
			r.flush()
			flushed = true
		}()
		synctest.Wait()
		if flushed {
			t.Error("the line has not been written")
		}
		close(reader)
		synctest.Wait()
		if !flushed || strings.Join(lines, ",") != "one" {
			t.Errorf("flushed %t, lines %q", flushed, lines)
		}
		(&reporter{}).say("to nobody")
	})
}
