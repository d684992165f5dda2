package signals

// This file is the sole owner of os/signal. Windows knows Ctrl-C and Ctrl-Break
// (INT) and the closing of the console, logging off and shutting down (TERM).

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// NumberOf returns this system's number of a signal, and whether it has it: those
// that are the same everywhere.
func NumberOf(s attempt.Signal) (int, bool) { return exitcodes.SignalNumber(string(s)) }

// SignalOf returns the signal with a number on this system, and whether there is
// one.
func SignalOf(n int) (attempt.Signal, bool) {
	name, ok := exitcodes.SignalName(n)
	return attempt.Signal(name), ok
}

// RestoreDispositions does nothing here: a program that runs nothing ends by its console.
func RestoreDispositions() {}

// NameOf returns the name of a signal.
func NameOf(n syscall.Signal) attempt.Signal {
	name, _ := SignalOf(int(n))
	return name
}

// catcher is how signals are caught here: from the start, by Go's runtime.
type catcher struct{ caught chan os.Signal }

// Listen begins to catch the signals that end the program. Call it once, early.
func Listen() *Signals {
	s := New()
	s.caught = make(chan os.Signal, 16)
	signal.Notify(s.caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		for sig := range s.caught {
			if n, ok := sig.(syscall.Signal); ok {
				s.Dispatch(n)
			}
		}
	}()
	return s
}

// Notify does nothing: Listen has done it.
func (s *Signals) Notify() {}

func (s *Signals) NotifyIfNoted() {}

func (*Signals) forgetEarly() {}

// coreSignals are none: there is no kill(2) here.
var coreSignals []syscall.Signal

// Job control does not exist here, nor do the signals that wake.
func Stops(syscall.Signal) bool     { return false }
func Continues(syscall.Signal) bool { return false }
func wakes(syscall.Signal) bool     { return false }

const sigStop = syscall.Signal(0)

func StopSelf(syscall.Signal) {}

// Die returns at once: a process cannot die by a signal here. The caller exits
// with 128+n.
func Die(attempt.Signal) {}

func (s *Signals) catchStop() {}

func (s *Signals) stopAsUncaught(syscall.Signal) {}
