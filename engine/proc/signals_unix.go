//go:build unix

package proc

// This file is the sole owner of os/signal: it catches the signals that are
// meant for the command or end the program, and says which it is.

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/note"
	"github.com/retrysh/retry/exitcodes"
)

// sameSignal is how long INT, TERM, HUP or QUIT again counts as one: timeout(1)
// signals its child and then its group, and a hang-up comes from the terminal
// and from the shell.
const sameSignal = 100 * time.Millisecond

// insist is how many INT and TERM together kill the tree at once.
const insist = 3

// endingSignals ask the program to end. QUIT is first since Go's own answer to
// it, until it is caught, is to print every stack.
var endingSignals = []syscall.Signal{syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// Signals catches signals. While an attempt runs they are the attempt's;
// otherwise those that end the program come out of Cancelled.
type Signals struct {
	caught    chan os.Signal
	ignored   map[syscall.Signal]bool
	cancelled chan attempt.Signal
	woken     chan struct{}
	catching  sync.Once // Catch

	mu      sync.Mutex
	current *running // the attempt that runs, nil in a wait
	last    map[syscall.Signal]time.Time

	noting sync.Mutex // held by during
	more   sync.Mutex // held while signals are added, which takes a while
	extra  map[syscall.Signal]bool
	given  bool // no more are added (surrender)
}

// Listen sees to it that no signal which asks for the end is lost from now on;
// Catch hands them out. Those that were ignored when the program started (nohup)
// stay ignored, here and in the command, and are never forwarded. Call it once,
// early: as PID 1 a signal that nobody catches is lost.
func Listen() *Signals {
	s := &Signals{
		caught:    make(chan os.Signal, 64),
		ignored:   map[syscall.Signal]bool{},
		cancelled: make(chan attempt.Signal, 16),
		woken:     make(chan struct{}, 1),
		last:      map[syscall.Signal]time.Time{},
		extra:     map[syscall.Signal]bool{},
	}
	for _, sig := range endingSignals {
		s.note(sig)
	}
	if os.Getpid() == 1 {
		s.Catch()
		go s.catchMore(append([]syscall.Signal{syscall.SIGCHLD}, earlySignals...)) // every orphan of the container comes here
	} else if !note.Can {
		s.catchMore(earlySignals)
	} else {
		s.noteOnly(endingSignals)
		for _, sig := range earlySignals {
			s.note(sig)
		}
		s.noteOnly(earlySignals)
	}
	return s
}

// LetGo is Listen for a program that runs nothing: what asks for the end ends it,
// and so does what has been noted by now (package early).
func LetGo() {
	for _, sig := range slices.Concat(endingSignals, earlySignals) {
		if note.On(int(sig)) {
			letGo(sig)
		}
	}
	for _, sig := range slices.Concat(endingSignals, earlySignals) {
		if note.Has(int(sig)) {
			Die(nameOf(sig))
		}
	}
}

// Catch hands out the signals that end the program, and USR1, from now on and
// those that came since Listen. Go's own way to do that costs two threads and two
// hand-overs between threads for each signal, together as much as to start
// another process; so it is left until there is something to be ended or woken:
// a wait, or a command that has run for catchLater.
func (s *Signals) Catch() {
	s.catching.Do(func() {
		for _, sig := range endingSignals {
			s.catch(sig)
		}
		s.handBack(endingSignals)
		go s.deliver()
		s.dispatchNoted()
		// This also hands out what was noted by a handler that was running when its
		// signal was handed back.
		time.AfterFunc(catchLater, func() { s.catchMore(append([]syscall.Signal{syscall.SIGUSR1}, coreSignals...)) })
	})
}

// catchNoted is Catch where something that asks for the end has come.
func (s *Signals) catchNoted() {
	if _, ok := firstNoted(); ok {
		s.Catch()
	}
}

// noteOnly makes signals be noted, and nothing else, where this system has a way
// to do it.
func (s *Signals) noteOnly(sigs []syscall.Signal) {
	for _, sig := range sigs {
		if !s.ignored[sig] {
			note.Start(int(sig))
		}
	}
}

// handBack ends what noteOnly began.
func (s *Signals) handBack(sigs []syscall.Signal) {
	for _, sig := range sigs {
		if !s.ignored[sig] {
			note.Stop(int(sig))
		}
	}
}

func (s *Signals) dispatchNoted() {
	s.noting.Lock() // what comes during a start is not meant
	defer s.noting.Unlock()
	for _, sigs := range [][]syscall.Signal{endingSignals, earlySignals} {
		for _, sig := range sigs {
			if note.Take(int(sig)) {
				s.dispatch(sig)
			}
		}
	}
}

// forgetEarly drops what was meant for a command when there was none, unless it
// ends a program.
func forgetEarly() {
	for _, sig := range earlySignals {
		if note.Take(int(sig)) && slices.Contains(coreSignals, sig) {
			Die(nameOf(sig))
		}
	}
}

// firstNoted returns a signal that came and has not been handed out.
func firstNoted() (sig syscall.Signal, ok bool) {
	for _, sig := range endingSignals {
		if note.Has(int(sig)) {
			return sig, true
		}
	}
	return 0, false
}

// catchLater is when signals begin to be handed to a command, unless one of
// endingSignals or earlySignals comes before: the wait for the command ends with
// it. The rest, such as the real-time signals, is dropped until then, which a
// command that young cannot tell from a signal that came before it began to
// handle them; and what ends sooner is spared the cost. A millisecond was about
// what true takes: half of its runs paid.
const catchLater = 3 * time.Millisecond

// note looks whether sig was ignored at the start, which has to be asked
// before Notify makes it forget.
func (s *Signals) note(sig syscall.Signal) {
	if signal.Ignored(sig) || ignoredNow(sig) {
		s.ignored[sig] = true
	}
}

func (s *Signals) catch(sig syscall.Signal) {
	if !s.ignored[sig] {
		signal.Notify(s.caught, sig)
		restoreAction(sig)
	}
}

// catchMore catches what only a running command or a wait has a use for.
func (s *Signals) catchMore(sigs []syscall.Signal) {
	s.Catch()
	s.more.Lock()
	defer s.more.Unlock()
	if s.given { // back, for good
		return
	}
	for _, sig := range sigs {
		if !s.extra[sig] {
			s.extra[sig] = true
			s.note(sig)
			s.catch(sig)
			if slices.Contains(earlySignals, sig) {
				s.handBack([]syscall.Signal{sig})
			}
		}
	}
	s.dispatchNoted()
}

// reapInWaits sees to it that orphans are reaped while no command runs, where
// there are any descendants that could become one.
func (s *Signals) reapInWaits() {
	if livingChildren() {
		s.catchMore([]syscall.Signal{syscall.SIGCHLD})
		children.reapOrphans()
	}
}

// Cancelled delivers, after Catch, the signals that ask the program to end
// (INT, TERM, HUP, QUIT) and arrived while no command ran.
func (s *Signals) Cancelled() <-chan attempt.Signal { return s.cancelled }

// Woken delivers, after Catch, a USR1 that arrived while no command ran: the wait is over.
func (s *Signals) Woken() <-chan struct{} { return s.woken }

func (s *Signals) deliver() {
	for sig := range s.caught {
		if b, ok := sig.(barrier); ok {
			close(b)
			continue
		}
		if n, ok := sig.(syscall.Signal); ok {
			s.dispatch(n)
		}
	}
}

// barrier goes through the channel of caught signals: when it is closed, all
// before it have been dispatched.
type barrier chan struct{}

// Signal makes a barrier an os.Signal.
func (barrier) Signal() {}

// String makes a barrier an os.Signal.
func (barrier) String() string { return "barrier" }

// flush returns when all signals caught so far have been dispatched.
func (s *Signals) flush() {
	b := make(barrier)
	s.caught <- b
	<-b
}

// settle returns when all signals that have reached the process by now have
// been dispatched.
func (s *Signals) settle() {
	awaitHandlers()
	s.dispatchNoted()
	s.drain()
}

// during calls start, which starts a command in the foreground of a terminal,
// when all that the terminal sent before has been dispatched, and returns what
// it sent meanwhile: the command may not have been there yet to get it. Where
// signals cannot be noted there is nothing to tell the two apart, and that part
// is empty.
func (s *Signals) during(start func()) (meanwhile []syscall.Signal) {
	s.settle()
	s.noting.Lock()
	defer s.noting.Unlock()
	s.noteOnly(endingSignals)
	awaitHandlers()
	s.drain()
	start()
	s.handBack(endingSignals)
	awaitHandlers()
	for _, sig := range endingSignals {
		if note.Take(int(sig)) {
			meanwhile = append(meanwhile, sig)
		}
	}
	return meanwhile
}

// drain dispatches what Go's handlers have queued.
func (s *Signals) drain() {
	// Stop returns once Go's own queue has reached the channels.
	passing := make(chan os.Signal, 1)
	signal.Notify(passing, syscall.SIGTERM)
	signal.Stop(passing)
	s.flush()
}

// dispatch hands one signal to the attempt that runs, or to the wait.
func (s *Signals) dispatch(sig syscall.Signal) {
	if sig == syscall.SIGCHLD {
		children.reapOrphans()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again(sig, time.Now()) {
		return
	}
	if s.current != nil && s.current.take(sig) {
		return
	}
	switch {
	case ends(sig):
		select {
		case s.cancelled <- nameOf(sig):
		default: // sixteen are waiting already
		}
		time.AfterFunc(stuckTime, func() { s.endStuck(sig) })
	case sig == syscall.SIGUSR1:
		select {
		case s.woken <- struct{}{}:
		default:
		}
	case stops(sig):
		stopSelf(syscall.SIGSTOP)
	case slices.Contains(coreSignals, sig):
		go Die(nameOf(sig)) // as without a handler
	}
}

// stops reports whether sig asks a program to stop (job control).
func stops(sig syscall.Signal) bool {
	return sig == syscall.SIGTSTP || sig == syscall.SIGTTIN || sig == syscall.SIGTTOU
}

// stuckTime is far more than the program needs to end once it was asked to.
const stuckTime = 500 * time.Millisecond

// endStuck ends the program where it has been asked to and no command runs,
// but it is still there: it is stuck in writing to somebody who does not read,
// as every program without a handler could then be ended.
func (s *Signals) endStuck(sig syscall.Signal) {
	s.mu.Lock()
	busy := s.current != nil
	s.mu.Unlock()
	if busy {
		time.AfterFunc(stuckTime, func() { s.endStuck(sig) })
		return
	}
	Die(nameOf(sig))
	os.Exit(exitcodes.OfSignal(int(sig))) // PID 1 cannot die by a signal
}

// again reports whether sig, which asks for the end, came a moment ago already.
// Every other signal is passed on as often as it comes.
func (s *Signals) again(sig syscall.Signal, now time.Time) bool {
	if !ends(sig) {
		return false
	}
	before, seen := s.last[sig]
	if seen && now.Sub(before) < sameSignal {
		return true
	}
	s.last[sig] = now
	return false
}

// enter makes a the attempt that gets the signals; leave ends that. One that
// nobody has taken from Cancelled yet is a's from the start, so that no command
// runs after the program was asked to end.
func (s *Signals) enter(a *running) {
	if a != nil {
		forgetEarly()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = a
	if a == nil {
		return
	}
	select {
	case sig := <-s.cancelled:
		a.result.Cancelled = sig
	default:
	}
}

func (s *Signals) leave() { s.enter(nil) }

// ends reports whether sig asks a program to end.
func ends(sig syscall.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}

// stopSelf stops the whole program; it returns after the next CONT.
func stopSelf(sig syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), sig) }
