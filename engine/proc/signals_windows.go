package proc

// This file is the sole owner of os/signal. Windows knows Ctrl-C and Ctrl-Break
// (INT) and the closing of the console, logging off and shutting down (TERM).

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/retrysh/retry/engine/attempt"
)

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

// nameOf returns the name of a signal.
func nameOf(n syscall.Signal) attempt.Signal {
	name, _ := SignalOf(int(n))
	return name
}

// catcher is how signals are caught here: from the start, by Go's runtime.
type catcher struct{ caught chan os.Signal }

// Listen begins to catch the signals that end the program. Call it once, early.
func Listen() *Signals {
	s := newSignals()
	s.caught = make(chan os.Signal, 16)
	signal.Notify(s.caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		for sig := range s.caught {
			if n, ok := sig.(syscall.Signal); ok {
				s.dispatch(n)
			}
		}
	}()
	return s
}

// Catch does nothing: Listen has done it.
func (s *Signals) Catch() {}

func (s *Signals) catchNoted() {}

func forgetEarly() {}

// coreSignals are none: there is no kill(2) here.
var coreSignals []syscall.Signal

// Job control does not exist here, nor do the signals that wake.
func stops(syscall.Signal) bool     { return false }
func continues(syscall.Signal) bool { return false }
func wakes(syscall.Signal) bool     { return false }

const sigStop = syscall.Signal(0)

func stopSelf(syscall.Signal) {}

// Die returns at once: a process cannot die by a signal here. The caller exits
// with 128+n.
func Die(attempt.Signal) {}

// ForegroundTerminal is false: a process has no terminal of its own here.
func ForegroundTerminal() bool { return false }
