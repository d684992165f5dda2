package proc

// This file is the sole owner of os/signal. Windows knows Ctrl-C and Ctrl-Break
// (INT) and the closing of the console, logging off and shutting down (TERM).

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// sameSignal is how long the same signal again counts as one (SPEC section 6).
const sameSignal = 100 * time.Millisecond

// insist is how many INT and TERM together kill the tree at once.
const insist = 3

// numbers are the signals that have one here (Go's syscall package).
var numbers = map[attempt.Signal]syscall.Signal{
	"SIGHUP": syscall.SIGHUP, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT, "SIGILL": syscall.SIGILL,
	"SIGTRAP": syscall.SIGTRAP, "SIGABRT": syscall.SIGABRT, "SIGBUS": syscall.SIGBUS, "SIGFPE": syscall.SIGFPE,
	"SIGKILL": syscall.SIGKILL, "SIGSEGV": syscall.SIGSEGV, "SIGPIPE": syscall.SIGPIPE, "SIGALRM": syscall.SIGALRM,
	"SIGTERM": syscall.SIGTERM,
}

// NumberOf returns this system's number of a signal, and whether it has it.
func NumberOf(s attempt.Signal) (int, bool) {
	n, ok := numbers[s]
	return int(n), ok
}

// SignalOf returns the signal with a number on this system, and whether there is
// one.
func SignalOf(n int) (attempt.Signal, bool) {
	for name, number := range numbers {
		if int(number) == n {
			return name, true
		}
	}
	return "", false
}

// EnoughFiles has no limit to look at here.
func EnoughFiles(Config, int, int) error { return nil }

// LetGo does nothing here: a program that runs nothing ends by its console.
func LetGo() {}

// Signals catches signals. While an attempt runs they are the attempt's;
// otherwise those that end the program come out of Cancelled.
type Signals struct {
	caught    chan os.Signal
	cancelled chan attempt.Signal

	mu      sync.Mutex
	current *running
	last    map[os.Signal]time.Time
}

// Listen begins to catch the signals that end the program. Call it once, early.
func Listen() *Signals {
	s := &Signals{caught: make(chan os.Signal, 16), cancelled: make(chan attempt.Signal, 16), last: map[os.Signal]time.Time{}}
	signal.Notify(s.caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		for sig := range s.caught {
			s.dispatch(sig)
		}
	}()
	return s
}

// Catch does nothing: Listen has done it.
func (s *Signals) Catch() {}

// Cancelled delivers the signals that ask the program to end and arrived while
// no command ran.
func (s *Signals) Cancelled() <-chan attempt.Signal { return s.cancelled }

// Woken never delivers: there is no USR1 here.
func (s *Signals) Woken() <-chan struct{} { return nil }

func (s *Signals) dispatch(sig os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if before, seen := s.last[sig]; seen && now.Sub(before) < sameSignal {
		return
	}
	s.last[sig] = now
	name := attempt.Signal("SIGINT")
	if sig == syscall.SIGTERM {
		name = "SIGTERM"
	}
	if s.current != nil && s.current.take(name) {
		return
	}
	select {
	case s.cancelled <- name:
	default: // sixteen are waiting already
	}
}

func (s *Signals) enter(a *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = a
	if a == nil {
		return
	}
	select { // one that nobody has taken yet
	case sig := <-s.cancelled:
		a.result.Cancelled = sig
	default:
	}
}

// Die returns at once: a process cannot die by a signal here. The caller exits
// with 128+n.
func Die(attempt.Signal) {}

// ForegroundTerminal is false: a process has no terminal of its own here.
func ForegroundTerminal() bool { return false }
