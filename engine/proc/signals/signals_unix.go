//go:build unix

package signals

// This file catches the signals that are meant for the command or end the program.

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/proc/note"
)

// endingSignals ask the program to end. QUIT is first since Go's own answer to
// it, until it is caught, is to print every stack.
var endingSignals = []syscall.Signal{syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// catcher is how signals are caught here: noted in a handler of the program's own
// until they are waited for (package note), by Go's runtime from then on.
type catcher struct {
	caught   chan os.Signal
	catching sync.Once // Notify

	more     sync.Mutex // held while signals are added, which takes a while
	added    map[syscall.Signal]bool
	restored bool // no more are added (RestoreAll)

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
	s.caught = make(chan os.Signal, 64)
	s.added = map[syscall.Signal]bool{}
	switch {
	case os.Getpid() == 1:
		startNoting(earlySignals) // until they are caught: what PID 1 has no handler for is lost
		s.Notify()
		go s.NotifyMore(earlySignals)
	case !note.Can:
		s.NotifyMore(earlySignals)
	default:
		startNoting(endingSignals)
		startNoting(earlySignals)
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
		if s.restored || s.added[sig] {
			continue
		}
		s.added[sig] = true
		if !isIgnored(sig) {
			signal.Notify(s.caught, sig)
			restoreAction(sig)
			note.Stop(int(sig))
		}
	}
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

// startNoting makes signals be noted, and nothing else, where this system has a way
// to do it.
func startNoting(sigs []syscall.Signal) {
	for _, sig := range sigs {
		if !isIgnored(sig) {
			note.Start(int(sig))
		}
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
	i := slices.IndexFunc(endingSignals, func(sig syscall.Signal) bool { return note.Has(int(sig)) })
	if i < 0 {
		return 0
	}
	return endingSignals[i]
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
