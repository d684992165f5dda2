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
	"github.com/retrysh/retry/engine/proc/note"
)

// catcher is how signals are caught here: noted in a handler of the program's own
// until they are waited for (package note), by Go's runtime from then on.
type catcher struct {
	caught   chan os.Signal
	catching sync.Once // Notify

	more  sync.Mutex // held while signals are added, which takes a while; taken before Signals.mu
	added map[syscall.Signal]bool

	// turn is held while a command is started in the foreground of a terminal: what is
	// noted then is not handed out.
	turn     sync.Mutex
	starting bool // guarded by Signals.mu
}

// Listen sees to it that no signal which asks for the end is lost from now on;
// Notify hands them out. Those that were ignored when the program started (nohup)
// stay ignored, here and in the command, and are never forwarded. Call it once,
// early: as PID 1 a signal that is not caught is lost.
func Listen() *Signals {
	s := New()
	s.caught, s.added = make(chan os.Signal, 64), map[syscall.Signal]bool{}
	startNoting(earlySignals)
	switch {
	case os.Getpid() == 1: // what it has no handler for is lost
		s.Notify()
		go s.NotifyMore(earlySignals)
	case !note.Can:
		s.NotifyMore(earlySignals)
	default:
		startNoting(endingSignals)
	}
	return s
}

// RestoreDispositions is Listen for a program that runs nothing: what asks for the end
// ends it, and so does what has been noted by now (package early).
func RestoreDispositions() {
	all := slices.Concat(endingSignals, earlySignals)
	for _, sig := range all {
		if note.On(int(sig)) {
			restore(sig)
		}
	}
	for _, sig := range takeNoted(all) {
		Die(NameOf(sig))
	}
	stray := make(chan os.Signal, 1)
	signal.Notify(stray, strayFaults...)
	go func() { Die(NameOf((<-stray).(syscall.Signal))) }()
}

// Notify hands out the signals that end the program, and USR1, from now on and
// those that came since Listen. Go's own way to do that costs two threads and two
// hand-overs between threads for each signal, together as much as to start
// another process; so it is left until there is something to be ended or woken:
// a wait, or a command that has run for Later.
func (s *Signals) Notify() {
	s.catching.Do(func() {
		s.add(endingSignals)
		signal.Notify(s.caught, strayFaults...) // no system call: the runtime's handlers are in place
		go s.deliver()
		// This also hands out what was noted by a handler that was running when its
		// signal was handed back.
		time.AfterFunc(Later, func() { s.NotifyMore(append([]syscall.Signal{syscall.SIGUSR1}, coreSignals...)) })
	})
	s.dispatchNoted()
}

// NotifyIfNoted is Notify where something that asks for the end has come.
func (s *Signals) NotifyIfNoted() {
	if FirstNoted() != 0 {
		s.Notify()
	}
}

// NotifyMore catches what only a running command or a wait has a use for.
func (s *Signals) NotifyMore(sigs []syscall.Signal) {
	s.Notify()
	s.add(sigs)
	s.dispatchNoted()
}

func (s *Signals) add(sigs []syscall.Signal) {
	s.more.Lock()
	defer s.more.Unlock()
	for _, sig := range sigs {
		if !s.added[sig] && !isIgnored(sig) {
			signal.Notify(s.caught, sig)
			restoreAction(sig)
			note.Stop(int(sig))
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

// startNoting has signals noted, and nothing else, where this system can.
func startNoting(sigs []syscall.Signal) {
	for _, sig := range sigs {
		note.Start(int(sig))
	}
}

func stopNoting(sigs []syscall.Signal) {
	for _, sig := range sigs {
		note.Stop(int(sig))
	}
}

func takeNoted(sigs []syscall.Signal) (noted []syscall.Signal) {
	for _, sig := range sigs {
		if note.Take(int(sig)) {
			noted = append(noted, sig)
		}
	}
	return noted
}

func (s *Signals) dispatchNoted() {
	var noted []syscall.Signal
	s.mu.Lock()
	if !s.starting {
		noted = append(takeNoted(endingSignals), takeNoted(earlySignals)...)
	}
	s.mu.Unlock()
	for _, sig := range noted {
		s.Dispatch(sig)
	}
}

// forgetEarly drops what was meant for a command when there was none, unless it
// ends a program.
func (s *Signals) forgetEarly() {
	for _, sig := range earlySignals {
		if !note.Take(int(sig)) {
			continue
		}
		s.isMine(sig) // takes note of it
		if slices.Contains(coreSignals, sig) {
			Die(NameOf(sig))
		}
	}
}

// FirstNoted returns a signal that asks for the end and has not been handed out, 0 for
// none.
func FirstNoted() syscall.Signal {
	for _, sig := range endingSignals {
		if note.Has(int(sig)) {
			return sig
		}
	}
	return 0
}

func (s *Signals) deliver() {
	for caught := range s.caught {
		switch sig := caught.(type) {
		case barrier:
			close(sig)
		case syscall.Signal:
			if slices.Contains(strayFaults, caught) {
				Die(NameOf(sig)) // as without a handler; PID 1 lives on
			} else {
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

// drain dispatches what Go's handlers have queued.
func (s *Signals) drain() {
	// Stop returns once Go's own queue has reached the channels.
	passing := make(chan os.Signal, 1)
	signal.Notify(passing, syscall.SIGTERM)
	signal.Stop(passing)
	s.flush()
}

// Settle returns when all signals that have reached the process by now have
// been dispatched.
func (s *Signals) Settle() {
	awaitHandlers()
	s.dispatchNoted()
	s.drain()
}

// BeginStart returns when all that the terminal sent before the start of a command
// in its foreground has been dispatched; from then on what it sends is noted.
func (s *Signals) BeginStart() {
	s.turn.Lock()
	s.Settle()
	s.setStarting(true)
	startNoting(endingSignals)
	awaitHandlers()
	s.drain()
}

// EndStart ends that and returns what the terminal sent meanwhile: the command may
// not have been there yet to get it. Where signals cannot be noted there is
// nothing to distinguish the two, and that part is empty.
func (s *Signals) EndStart() (meanwhile []syscall.Signal) {
	stopNoting(endingSignals)
	awaitHandlers()
	meanwhile = takeNoted(endingSignals)
	s.setStarting(false)
	s.turn.Unlock()
	return meanwhile
}

func (s *Signals) setStarting(starting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = starting
}

// RestoreAll gives every caught signal its default action, for good, and
// returns the first one that asks for the end and has not been acted on.
func (s *Signals) RestoreAll() attempt.Signal {
	s.Notify()
	s.setStarting(true) // what is noted from now on is handed out below, and nowhere else
	s.more.Lock()
	stopNoting(earlySignals)
	for _, sig := range slices.Concat(endingSignals, earlySignals, coreSignals, []syscall.Signal{syscall.SIGTSTP}) {
		s.added[sig] = true // it is not caught again
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
	if len(s.cancelled) == 0 {
		return ""
	}
	return <-s.cancelled
}

// restore gives sig an action of the kernel's own. That is the default one but
// where sig asks for the end of PID 1, which the kernel would not let it do.
func restore(sig syscall.Signal) {
	if !Ends(sig) || syscall.Getpid() != 1 || !note.Exit(int(sig)) {
		setDefault(sig)
	}
}

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

// Stops reports whether sig asks a program to stop (job control).
func Stops(sig syscall.Signal) bool {
	return sig == syscall.SIGTSTP || sig == syscall.SIGTTIN || sig == syscall.SIGTTOU
}

func Continues(sig syscall.Signal) bool { return sig == syscall.SIGCONT }

// wakes reports whether sig ends a wait.
func wakes(sig syscall.Signal) bool { return sig == syscall.SIGUSR1 }

func (s *Signals) catchStop() { s.NotifyMore([]syscall.Signal{syscall.SIGTSTP}) }

func (s *Signals) stop(sig syscall.Signal) {
	call := s.onStop.Load()
	if call == nil {
		stopSelf()
		return
	}
	call[0]()
	stopAsUncaught(sig)
	call[1]()
}

// stopSelf returns after the next CONT.
func stopSelf() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }
