//go:build unix

package proc

// This file ends the program by a signal, for real, or replaces it.

import (
	"errors"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/note"
	"github.com/retrysh/retry/exitcodes"
)

// Die ends the program by sig, so that whoever waits for it sees the signal:
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

// Exec replaces the program by a command, which keeps the pid and gets the
// original dispositions, mask, limits and descriptors. It returns only with
// the reason why it could not, and the exit code for it. Probes may
// have run before, attempts not: these make the program a subreaper, which
// the command would stay.
//
// A signal that asks for the end is not lost on the way: one that was caught
// before ends the program here, one that comes later finds an action in place
// that ends the program or, after the exec, its own default one.
func Exec(s *Signals, argv, env []string) (int, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if sig := s.surrender(); sig != "" {
		Die(sig)
		n, _ := NumberOf(sig)
		return exitcodes.OfSignal(n), errors.New("ended by " + string(sig))
	}
	children.reapOrphans() // the command would not know them
	err := eachCandidate(argv[0], func(path string) error {
		err := syscall.Exec(path, argv, env)
		if err == syscall.ENOEXEC {
			err = syscall.Exec(shell, append([]string{shell, path}, argv[1:]...), env)
		}
		return err
	})
	return exitcodes.Of(err), err
}

// LookUp returns the error that Exec would end with for a command that is not
// there, or that is not to be executed.
func LookUp(name string) error {
	return eachCandidate(name, func(path string) error {
		var file unix.Stat_t
		if err := unix.Stat(path, &file); err != nil {
			return err
		}
		if file.Mode&unix.S_IFMT != unix.S_IFREG {
			return syscall.EACCES
		}
		if err := unix.Access(path, unix.X_OK); err != nil {
			return err
		}
		if script := interpreter(path); script != "" {
			return unix.Stat(script, &file)
		}
		return nil
	})
}

// surrender gives every caught signal its default action, for good, and
// returns the first one that asks for the end and has not been acted on.
func (s *Signals) surrender() attempt.Signal {
	s.Catch()
	s.mu.Lock()
	s.starting = true // what is noted from now on is handed out below, and nowhere else
	s.mu.Unlock()
	s.more.Lock()
	s.given = true
	s.handBack(earlySignals)
	caught := slices.Concat(endingSignals, earlySignals)
	for sig := range s.extra {
		caught = append(caught, sig)
	}
	for _, sig := range caught {
		if !s.ignored[sig] {
			letGo(sig)
		}
	}
	s.more.Unlock()
	// A handler that runs on another thread at this moment still has to note or
	// to queue its signal, or to die of it; Stop then waits until the queue has reached
	// the channel.
	forgetEarly()
	leaveHandlers()
	for _, sig := range slices.Concat(endingSignals, coreSignals) {
		if sig != meeting && note.Take(int(sig)) {
			s.dispatch(sig)
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

// letGo gives sig an action of the kernel's own. That is the default one but
// where sig asks for the end of PID 1, which the kernel would not let it do.
func letGo(sig syscall.Signal) {
	if !ends(sig) || syscall.Getpid() != 1 || !setExit(sig) {
		setDefault(sig)
	}
}
