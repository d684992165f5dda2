//go:build unix

package signals

// This file catches the signals that are meant for the command or end the program, gives
// them back, and ends the program by one.

import (
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
)

// catcher is how signals are caught here.
type catcher struct {
	caught chan os.Signal

	addLock sync.Mutex // held while signals are added, which takes a while; taken before Signals.mu
	added   map[syscall.Signal]bool

	startLock sync.Mutex       // held while a command is started in the foreground of a terminal
	starting  bool             // guarded by Signals.mu
	meanwhile []syscall.Signal // that ask for the end and came then; guarded by Signals.mu
}

// Listen catches the signals that ask for the end and those that a command may send as
// soon as it runs. Those that were ignored when the program started (nohup) stay ignored,
// here and in the command, and are never forwarded. Call it once, first of all: until then
// Go's runtime answers QUIT and coreSignals by printing its stacks, and any of them as
// PID 1, which cannot die of it, by exiting with 2.
func Listen() *Signals {
	setDefault(syscall.SIGILL) // the runtime does not need these two itself
	setDefault(syscall.SIGFPE)
	s := New()
	s.caught, s.added = make(chan os.Signal, 64), map[syscall.Signal]bool{}
	s.Catch(endingSignals)
	s.Catch(earlySignals)
	signal.Notify(s.caught, strayFaults...)
	go s.deliver()
	return s
}

// Catch catches further signals.
func (s *Signals) Catch(sigs []syscall.Signal) {
	s.addLock.Lock()
	defer s.addLock.Unlock()
	for _, sig := range sigs {
		if !s.added[sig] && !isIgnored(sig) {
			signal.Notify(s.caught, sig)
		}
		s.added[sig] = true
	}
}

// Forwarded are the signals, beyond those that ask for the end, that are passed on to a
// command in a process group of its own: all that Go can catch, except URG, CHLD and PIPE,
// and SEGV, BUS, ILL and FPE, which a fault raises. Those that stop a program come last:
// when they are caught, all are.
func Forwarded() []syscall.Signal {
	all := slices.Concat(earlySignals, laterSignals)
	for n := realTimeMin + 1; n <= realTimeMax; n++ {
		all = append(all, syscall.Signal(n))
	}
	return append(all, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGTSTP)
}

// isIgnored reports whether sig was ignored at the start. Such a signal is never
// caught, so that this does not change.
func isIgnored(sig syscall.Signal) bool {
	const ignore = 1 // SIG_IGN
	var now rawAction
	return sigaction(sig, nil, &now) == 0 && now[0] == ignore
}

// setDefault gives sig its default action, which Go cannot do for QUIT and its like.
func setDefault(sig syscall.Signal) { sigaction(sig, &rawAction{}, nil) }

func (s *Signals) deliver() {
	for caught := range s.caught {
		switch sig := caught.(type) {
		case barrier:
			close(sig)
		case syscall.Signal:
			if slices.Contains(strayFaults, caught) {
				Die(NameOf(sig)) // as without a handler; PID 1 lives on
			} else if !s.keep(sig) {
				s.Dispatch(sig)
			}
		}
	}
}

// barrier is an os.Signal that goes through the channel of caught signals: when it
// is closed, all before it have been dispatched.
type barrier chan struct{}

func (barrier) Signal()        {}
func (barrier) String() string { return "barrier" }

// flush returns when all signals caught so far have been dispatched.
func (s *Signals) flush() {
	b := make(barrier)
	s.caught <- b
	<-b
}

// settleLimit is far more than a signal takes to the channel of its handler.
const settleLimit = 100 * time.Millisecond

// Settle returns when all signals that ask for the end and have reached the process by now
// have been dispatched. A CHLD is sent behind them: of the signals that wait, the kernel
// hands out that with the lowest number first.
func (s *Signals) Settle() {
	behind := make(chan os.Signal, 1)
	signal.Notify(behind, syscall.SIGCHLD)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGCHLD)
	select {
	case <-behind:
	case <-time.After(settleLimit):
	}
	signal.Stop(behind) // returns when Go's own queue has reached the channels
	s.flush()
}

// BeginStart returns when all that the terminal sent before the start of a command in its
// foreground has been dispatched. What asks for the end from then on waits for EndStart.
func (s *Signals) BeginStart() {
	s.startLock.Lock()
	s.Settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = true
}

// EndStart ends that and returns what asked for the end meanwhile, which has not been
// dispatched: the command may not have been there yet to get it from the terminal.
func (s *Signals) EndStart() (meanwhile []syscall.Signal) {
	s.Settle()
	s.mu.Lock()
	meanwhile = s.meanwhile
	s.meanwhile = nil
	s.starting = false
	s.mu.Unlock()
	s.startLock.Unlock()
	return meanwhile
}

// keep keeps sig for EndStart, and reports whether it did.
func (s *Signals) keep(sig syscall.Signal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.starting || !Ends(sig) {
		return false
	}
	s.meanwhile = append(s.meanwhile, sig)
	return true
}

// RestoreAll gives every caught signal its default action, for good, and returns one that
// asks for the end and has not been acted on. For PID 1 the default is to ignore it: as
// such the program is ended by it until it is replaced.
func (s *Signals) RestoreAll() attempt.Signal {
	s.addLock.Lock()
	for _, sig := range slices.Concat(endingSignals, earlySignals, []syscall.Signal{syscall.SIGTSTP}) {
		s.added[sig] = true // it is not caught again
		if !isIgnored(sig) && !(Ends(sig) && syscall.Getpid() == 1) {
			setDefault(sig)
		}
	}
	s.addLock.Unlock()
	s.Settle()
	select {
	case sig := <-s.cancelled:
		return sig
	default:
		s.EndAtOnce()
		return ""
	}
}

// dyingTime is far more than a signal takes from one thread to another.
const dyingTime = 20 * time.Millisecond

// Die ends the program by sig, so that its parent sees the signal:
// without a core file of its own and without Go's stacks. It returns if
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
	// If the system cannot address a thread, another one may have to take it.
	time.Sleep(dyingTime)
}

// Stops reports whether sig asks a program to stop (job control).
func Stops(sig syscall.Signal) bool {
	return sig == syscall.SIGTSTP || sig == syscall.SIGTTIN || sig == syscall.SIGTTOU
}

func Continues(sig syscall.Signal) bool { return sig == syscall.SIGCONT }

// wakes reports whether sig ends a wait.
func wakes(sig syscall.Signal) bool { return sig == syscall.SIGUSR1 }

func (s *Signals) catchStop() { s.Catch([]syscall.Signal{syscall.SIGTSTP}) }

func (s *Signals) stop(sig syscall.Signal) {
	call := s.onStop.Load()
	if call == nil {
		stopSelf()
		return
	}
	call.stopping()
	stopAsUncaught(sig)
	call.going()
}

// stopSelf returns after the next CONT.
func stopSelf() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }
