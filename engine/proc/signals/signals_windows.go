package signals

// This file catches signals. Windows knows Ctrl-C and Ctrl-Break (INT) and the closing
// of the console, logging off and shutting down (TERM).

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

// NameOf returns the name of a signal.
func NameOf(n syscall.Signal) attempt.Signal {
	name, _ := exitcodes.SignalName(int(n))
	return attempt.Signal(name)
}

// catcher is how signals are caught here: from the start, by Go's runtime.
type catcher struct{}

// Listen begins to catch the signals that end the program. Call it once, first of all.
func Listen() *Signals {
	s := New()
	caught := make(chan os.Signal, 16)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		for sig := range caught {
			s.Dispatch(sig.(syscall.Signal))
		}
	}()
	return s
}

// coreSignals are none: there is no kill(2) here.
var coreSignals []syscall.Signal

// Job control does not exist here, nor do the signals that wake.
func Stops(syscall.Signal) bool     { return false }
func Continues(syscall.Signal) bool { return false }
func wakes(syscall.Signal) bool     { return false }

// Die returns at once: a process cannot die by a signal here. The caller exits
// with 128+n.
func Die(attempt.Signal) {}

// There is no job control to catch.
func (*Signals) catchStop()          {}
func (*Signals) stop(syscall.Signal) {}
