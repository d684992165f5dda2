//go:build unix

package signals

// This file tests to whom a signal belongs, without any that is sent: the clock is that of
// testing/synctest, and so the program is not ended as one that is stuck.

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// state is what has come out of s: the signals that ask for the end, and a wake-up.
func state(s *Signals) string {
	var all []string
	for len(s.Cancelled()) > 0 {
		all = append(all, string(<-s.Cancelled()))
	}
	for len(s.Woken()) > 0 {
		<-s.Woken()
		all = append(all, "woken")
	}
	return strings.Join(all, " ")
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: %s, want %s", what, g, w)
	}
}

// taken empties an inbox, and takes its signals or not.
func taken(s *Signals, in *Inbox, takes bool) (all []syscall.Signal) {
	s.Handle(in, func(sig syscall.Signal) bool {
		all = append(all, sig)
		return takes
	})
	return all
}

// While no command runs, what asks for the end is a cancel, USR1 ends the wait, and all else
// is nobody's.
func TestSignalsInAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT,
			syscall.SIGUSR1, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT} {
			s.Dispatch(sig)
		}
		expect(t, "a wait", state(s), "SIGTERM SIGINT SIGHUP SIGQUIT woken")
	})
}

// An attempt gets the signals in their order, once each, and what it takes is nobody else's.
// What it leaves counts as in a wait.
func TestSignalsOfAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, in := New(), NewInbox(true)
		expect(t, "asked", s.Enter(in, 0), "")
		for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGUSR2, syscall.SIGUSR1} {
			s.Dispatch(sig)
		}
		select {
		case <-in.Arrived:
		default:
			t.Error("nothing has arrived")
		}
		expect(t, "before", state(s), "")
		expect(t, "taken", taken(s, in, true),
			[]syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGUSR2, syscall.SIGUSR1})
		expect(t, "again", taken(s, in, true), "[]")
		expect(t, "after", state(s), "")

		s.Dispatch(syscall.SIGUSR1)
		expect(t, "not taken", taken(s, in, false), []syscall.Signal{syscall.SIGUSR1})
		expect(t, "after", state(s), "woken")

		s.Dispatch(syscall.SIGHUP)
		s.Leave(in)
		expect(t, "left", state(s), "SIGHUP")
		s.Dispatch(syscall.SIGUSR2)
		expect(t, "later", taken(s, in, true), "[]")
	})
}

// Whose a signal was is known when all attempts have answered; one that takes it is enough.
func TestSignalsOfCopies(t *testing.T) {
	for _, c := range []struct {
		takes [2]bool
		want  string
	}{{[2]bool{true, false}, ""}, {[2]bool{false, true}, ""}, {[2]bool{true, true}, ""},
		{[2]bool{false, false}, "SIGTERM"}} {
		synctest.Test(t, func(t *testing.T) {
			s, one, two := New(), NewInbox(true), NewInbox(true)
			s.Enter(one, 0)
			s.Enter(two, 1)
			s.Dispatch(syscall.SIGTERM)
			expect(t, "one", taken(s, one, c.takes[0]), []syscall.Signal{syscall.SIGTERM})
			expect(t, "between", state(s), "")
			expect(t, "two", taken(s, two, c.takes[1]), []syscall.Signal{syscall.SIGTERM})
			expect(t, fmt.Sprint(c.takes), state(s), c.want)
		})
	}
}

// A command that only answers a question gets what stops and continues it, and leaves the
// rest.
func TestSignalsOfAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, in := New(), NewInbox(false)
		expect(t, "asked", s.Enter(in, 0), "")
		s.Dispatch(syscall.SIGTERM)
		s.Dispatch(syscall.SIGUSR1)
		s.Dispatch(syscall.SIGCONT)
		expect(t, "a wait", state(s), "SIGTERM woken")
		expect(t, "taken", taken(s, in, true), []syscall.Signal{syscall.SIGCONT})
	})
}

// An attempt that enters finds what was sent before: it does not start. A copy finds what
// the others have got, the next attempt does not. A wake-up was for the wait that is over.
func TestEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		s.Dispatch(syscall.SIGTERM)
		s.Dispatch(syscall.SIGUSR1)
		question := NewInbox(false)
		expect(t, "a question", s.Enter(question, 0), "")
		s.Leave(question)
		first := NewInbox(true)
		expect(t, "asked", s.Enter(first, 0), "SIGTERM")
		expect(t, "left", state(s), "")
		s.Leave(first)

		second, beside, third := NewInbox(true), NewInbox(true), NewInbox(true)
		expect(t, "the next attempt", s.Enter(second, 0), "")
		s.Dispatch(syscall.SIGHUP)
		s.Dispatch(syscall.SIGUSR1)
		expect(t, "a copy", s.Enter(beside, 1), "SIGHUP")
		taken(s, second, true)
		s.Leave(second)
		s.Leave(beside)
		expect(t, "the attempt after it", s.Enter(third, 0), "")
	})
}

// What asks for the end counts once in a tenth of a second, each signal by itself; all else
// counts each time.
func TestSameSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, in := New(), NewInbox(true)
		s.Enter(in, 0)
		send := func(after time.Duration, sigs ...syscall.Signal) {
			time.Sleep(after)
			for _, sig := range sigs {
				s.Dispatch(sig)
			}
		}
		send(time.Hour, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGINT)
		send(Same-1, syscall.SIGTERM)
		send(1, syscall.SIGTERM) // of the first
		send(Same, syscall.SIGTERM, syscall.SIGUSR2, syscall.SIGUSR2)
		want := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGUSR2,
			syscall.SIGUSR2}
		expect(t, "taken", taken(s, in, true), want)
	})
}

// A USR1 that was sent to end a wait does so, and no command gets it.
func TestOwnSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, in, own, asked := New(), NewInbox(true), true, 0
		s.SetOwnSignal(func() bool { asked++; return own })
		s.Dispatch(syscall.SIGUSR1)
		expect(t, "in a wait", state(s), "woken")
		s.Dispatch(syscall.SIGUSR2)
		s.Dispatch(syscall.SIGTERM)
		expect(t, "asked about USR1 alone", asked, 1)
		expect(t, "in a wait", state(s), "SIGTERM")

		question := NewInbox(false)
		s.Enter(question, 0)
		s.Dispatch(syscall.SIGUSR1)
		expect(t, "beside a question", state(s), "woken")
		s.Leave(question)

		s.Enter(in, 0)
		s.Dispatch(syscall.SIGUSR1)
		expect(t, "while a command runs", taken(s, in, true), "[]")
		own = false
		s.Dispatch(syscall.SIGUSR1)
		expect(t, "another's", taken(s, in, true), []syscall.Signal{syscall.SIGUSR1})
		expect(t, "left", state(s), "")
	})
}

// The run is ending after a signal that asks for it, or from its deadline on, while no
// command runs.
func TestIsEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, in := New(), NewInbox(true)
		expect(t, "at first", s.IsEnding(), false)
		s.Dispatch(syscall.SIGUSR1)
		expect(t, "after USR1", s.IsEnding(), false)
		s.EndsAt(time.Now().Add(time.Second))
		time.Sleep(time.Second - 1)
		expect(t, "before the deadline", s.IsEnding(), false)
		time.Sleep(time.Nanosecond)
		expect(t, "at the deadline", s.IsEnding(), true)
		s.Enter(in, 0)
		expect(t, "while a command runs", s.IsEnding(), false)
		s.EndsAt(time.Time{})
		s.Leave(in)
		expect(t, "without a deadline", s.IsEnding(), false)
		s.Dispatch(syscall.SIGTERM)
		s.Dispatch(syscall.SIGUSR1)
		expect(t, "after TERM", s.IsEnding(), true)
	})
}

// Numbers and names, both ways.
func TestSignalNames(t *testing.T) {
	for n, want := range map[int]attempt.Signal{1: "SIGHUP", 9: "SIGKILL", 15: "SIGTERM"} {
		name, ok := SignalOf(n)
		if number, known := NumberOf(want); name != want || !ok || number != n || !known {
			t.Errorf("%d is %q %t, and %s is %d %t", n, name, ok, want, number, known)
		}
		expect(t, "exit code", ExitCode(want), 128+n)
	}
	for _, name := range []attempt.Signal{"", "TERM", "SIGNOPE", "SIGRTMINx", "SIGRTMIN+99"} {
		if n, known := NumberOf(name); known {
			t.Errorf("%q is %d", name, n)
		}
	}
	for n, ok := range map[int]bool{0: false, -1: false, 1000: false} {
		if name, known := SignalOf(n); known != ok {
			t.Errorf("%d is %q", n, name)
		}
	}
	for sig, want := range map[syscall.Signal]bool{syscall.SIGTERM: true, syscall.SIGINT: true, syscall.SIGHUP: true,
		syscall.SIGQUIT: true, syscall.SIGKILL: false, syscall.SIGABRT: false} {
		if Ends(sig) != want {
			t.Errorf("%v asks for the end: %t", sig, !want)
		}
	}
	if all := []syscall.Signal{syscall.SIGTERM}; slices.ContainsFunc(all, Stops) ||
		slices.ContainsFunc(all, Continues) {
		t.Error("TERM stops or continues")
	}
}
