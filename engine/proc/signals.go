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

// Package signals explains these.
func Die(sig attempt.Signal)                { signals.Die(sig) }
func NumberOf(s attempt.Signal) (int, bool) { return signals.NumberOf(s) }
func SignalOf(n int) (attempt.Signal, bool) { return signals.SignalOf(n) }

// SignalTo sends a signal to another process, in two steps since pids are used
// again: it takes hold of the process (on Linux by a pidfd), then asks whether that
// is the one that was meant, and then signals that one or none. It returns
// os.ErrProcessDone if the process has ended or is another one.
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
		case <-inbox.Arrived:
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
