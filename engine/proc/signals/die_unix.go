//go:build unix

package signals

// This file ends the program by a signal, for real, and gives the signals back
// for an exec.

import (
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/note"
)

// dyingTime is far more than a signal takes from one thread to another.
const dyingTime = 20 * time.Millisecond

// Die ends the program by sig, so that its parent sees the signal:
// without a core file of its own and without Go's stacks. It returns where
// that cannot be (PID 1, signals that do not end a process); the caller then
// exits with 128+n.
func Die(sig attempt.Signal) {
	n, ok := NumberOf(sig)
	number := syscall.Signal(n)
	if !ok || Stops(number) || number == syscall.SIGSTOP || syscall.Getpid() == 1 {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
	notDumpable()
	setDefault(number)
	unblock()
	raise(number)
	// Where the system cannot address a thread, another one may have to take it.
	time.Sleep(dyingTime)
}

// RestoreAll gives every caught signal its default action, for good, and
// returns the first one that asks for the end and has not been acted on.
func (s *Signals) RestoreAll() attempt.Signal {
	s.Notify()
	s.setStarting(true) // what is noted from now on is handed out below, and nowhere else
	s.more.Lock()
	s.restored = true
	stopNoting(earlySignals)
	for _, sig := range earlySignals {
		s.added[sig] = true
	}
	for sig := range s.added {
		if !isIgnored(sig) {
			restore(sig)
		}
	}
	s.more.Unlock()
	// A handler that runs on another thread at this moment still has to note or
	// to queue its signal, or to die of it; Stop then waits until the queue has reached
	// the channel.
	s.forgetEarly()
	leaveHandlers()
	for _, sig := range takeNoted(slices.Concat(endingSignals, coreSignals)) {
		if sig != meeting {
			s.Dispatch(sig)
		}
	}
	signal.Stop(s.caught)
	s.flush()
	select {
	case sig := <-s.cancelled:
		return sig
	default:
		return ""
	}
}

// restore gives sig an action of the kernel's own. That is the default one but
// where sig asks for the end of PID 1, which the kernel would not let it do.
func restore(sig syscall.Signal) {
	if !Ends(sig) || syscall.Getpid() != 1 || !note.Exit(int(sig)) {
		setDefault(sig)
	}
}
