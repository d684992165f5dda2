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

// Die ends the program by sig, so that its parent sees the signal:
// without a core file of its own and without Go's stacks. It returns where
// that cannot be (PID 1, signals that do not end a process); the caller then
// exits with 128+n.
func Die(sig attempt.Signal) {
	n, ok := NumberOf(sig)
	if !ok || syscall.Getpid() == 1 {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	leaveNoCore()
	number := syscall.Signal(n)
	switch number {
	case syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		return
	}
	setDefault(number)
	unblock(number)
	raise(number)
	// Where the system cannot address a thread, another one may have to take it.
	time.Sleep(dyingTime)
}

// dyingTime is far more than a signal takes from one thread to another.
const dyingTime = 20 * time.Millisecond

func leaveNoCore() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
	notDumpable()
}

// RestoreAll gives every caught signal its default action, for good, and
// returns the first one that asks for the end and has not been acted on.
func (s *Signals) RestoreAll() attempt.Signal {
	s.Notify()
	s.mu.Lock()
	s.starting = true // what is noted from now on is handed out below, and nowhere else
	s.mu.Unlock()
	s.more.Lock()
	s.given = true
	s.stopNoting(earlySignals)
	caught := slices.Concat(endingSignals, earlySignals)
	for sig := range s.extra {
		caught = append(caught, sig)
	}
	for _, sig := range caught {
		if !s.ignored[sig].Load() {
			restore(sig)
		}
	}
	s.more.Unlock()
	// A handler that runs on another thread at this moment still has to note or
	// to queue its signal, or to die of it; Stop then waits until the queue has reached
	// the channel.
	s.forgetEarly()
	leaveHandlers()
	for _, sig := range slices.Concat(endingSignals, coreSignals) {
		if sig != meeting && note.Take(int(sig)) {
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
	if !Ends(sig) || syscall.Getpid() != 1 || !setExit(sig) {
		setDefault(sig)
	}
}
