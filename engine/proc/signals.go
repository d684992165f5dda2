package proc

// This file is what package signals offers to other packages.

import (
	"fmt"
	"os"
	"syscall"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/signals"
)

// Signals are the signals that reach the program.
type Signals = signals.Signals

// Listen sees to it that no signal which asks for the end is lost from now on.
// Call it once, early: as PID 1 a signal that is not caught is lost.
func Listen() *Signals {
	s := signals.Listen()
	if os.Getpid() == 1 {
		listenForOrphans() // every one of the container comes here
	}
	return s
}

// NoStacks keeps Go's runtime from answering a signal by printing its stacks. Call
// it first of all.
func NoStacks() { signals.NoStacks() }

// RestoreDispositions is Listen for a program that runs nothing.
func RestoreDispositions() { signals.RestoreDispositions() }

// Interruptible calls f, which a signal may end together with the program. It is
// for before Listen.
func Interruptible(f func()) { signals.Interruptible(f) }

// SignalTo sends a signal to another process, in two steps since pids are used
// again: it takes hold of the process (on Linux by a pidfd), then asks whether that
// is the one that was meant, and then signals that one or none. It returns
// os.ErrProcessDone where the process has ended or is another one.
func SignalTo(pid int, meant func() bool, s attempt.Signal) error {
	n, ok := signals.NumberOf(s)
	if !ok {
		return fmt.Errorf("this system has no signal %q", string(s))
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer func() { _ = process.Release() }()
	if !meant() {
		return os.ErrProcessDone
	}
	return process.Signal(syscall.Signal(n))
}

// Die ends the program by a signal, and returns where that cannot be.
func Die(sig attempt.Signal) { signals.Die(sig) }

// Accompany passes the signals that reach the program on to a process of its own,
// but for those of job control, until the process has ended. It returns the last
// one that asked for the end, "" for none.
func Accompany(s *Signals, p *os.Process, ended <-chan struct{}) (asked attempt.Signal) {
	inbox := signals.NewInbox(true)
	defer s.Leave(inbox)
	if asked = s.Enter(inbox, 0); asked != "" {
		n, _ := NumberOf(asked)
		_ = p.Signal(syscall.Signal(n))
	}
	for {
		select {
		case <-ended:
			return asked
		case <-inbox.Arrived():
		}
		s.Handle(inbox, func(sig syscall.Signal) bool {
			if signals.Ends(sig) {
				asked = signals.NameOf(sig)
			}
			if !signals.Stops(sig) && !signals.Continues(sig) {
				_ = p.Signal(sig)
			}
			return true
		})
	}
}

// NumberOf returns this system's number of a signal, and whether it has it.
func NumberOf(s attempt.Signal) (int, bool) { return signals.NumberOf(s) }

// SignalOf returns the signal with a number on this system, and whether there is
// one.
func SignalOf(n int) (attempt.Signal, bool) { return signals.SignalOf(n) }
