// Package signals owns os/signal. It notes the signals that reach the program from
// its first moment, hands them out once they can be handled, and decides whether each
// belongs to the attempts that run, or to the wait between them. It also ends the
// program by a signal, so that its parent sees it.
//
// What a signal means for a command, and how it gets there, is the attempt's
// matter; nothing here sends one to another process. SIGCHLD is
// package reap's.
//
// Locks, in the order in which they may be taken: catcher.more, then Signals.mu.
// Under the first only os/signal and package note are called, under the second
// nothing but system calls and channels that never block.
package signals

// This file decides whose a caught signal is: that of the attempts that run, or
// of the wait between them. How signals are caught is each system's own matter.

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// Same is how long INT, TERM, HUP or QUIT again counts as one: timeout(1)
// signals its child and then its group, and a hang-up comes from the terminal
// and from the shell.
const Same = 100 * time.Millisecond

// Later is when signals begin to be handed to a command, unless one that asks for
// the end comes before: the wait for the command ends with it. What ends sooner is
// spared the cost.
const Later = 3 * time.Millisecond

// Signals catches signals. While attempts run they are the attempts'; otherwise
// those that end the program come out of Cancelled.
type Signals struct {
	catcher
	cancelled chan attempt.Signal
	woken     chan struct{}

	// mine reports of a USR1 that it was sent to end a wait, and is never a command's.
	mine atomic.Pointer[func() bool]
	// stopping and going are called before the program stops with its job, and when
	// it goes on; nil where that was not asked for.
	stopping, going atomic.Pointer[func()]

	mu      sync.Mutex // a leaf: only system calls while it is held
	running []*Inbox   // of the attempts that run
	asked   attempt.Signal
	last    map[syscall.Signal]time.Time
}

// Inbox holds the signals of one attempt until the goroutine that owns the
// attempt takes them.
type Inbox struct {
	takes   bool          // signals that reach the program are the command's too
	arrived chan struct{} // has a token where something waits
	waiting []*Delivery   // guarded by Signals.mu
}

// Delivery is one signal on its way to all attempts that run. Whose it was is
// known when the last of them has answered.
type Delivery struct {
	Signal syscall.Signal

	open  int  // answers that are missing
	taken bool // by one of them at least
}

// New is a place for signals that none reach, for commands that only answer a
// question. Listen makes the one that they do.
func New() *Signals {
	return &Signals{
		cancelled: make(chan attempt.Signal, 16), woken: make(chan struct{}, 1),
		last: map[syscall.Signal]time.Time{},
	}
}

// Cancelled delivers, after Notify, the signals that ask the program to end
// (INT, TERM, HUP, QUIT) and arrived while no command ran whose they were.
func (s *Signals) Cancelled() <-chan attempt.Signal { return s.cancelled }

// Woken delivers, after Notify, a USR1 that arrived while no command ran: the wait is over.
func (s *Signals) Woken() <-chan struct{} { return s.woken }

// Mine has every USR1 asked about: where mine reports true it was sent to end a
// wait, and reaches no command. It is asked from any goroutine, and no lock is held.
func (s *Signals) Mine(mine func() bool) { s.mine.Store(&mine) }

func (s *Signals) isMine(sig syscall.Signal) bool {
	mine := s.mine.Load()
	return wakes(sig) && mine != nil && (*mine)()
}

// wake ends the wait, if there is one.
func (s *Signals) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.running, func(in *Inbox) bool { return in.takes }) {
		return
	}
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Enter makes in the inbox of an attempt that runs. Where the program has been
// asked to end, and that has not been received from Cancelled, it returns the
// signal: no command is to be run. A copy beside another attempt also gets what
// the other one has got.
func (s *Signals) Enter(in *Inbox, copy int) attempt.Signal {
	if in.takes && copy == 0 {
		s.forgetEarly()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = append(s.running, in)
	if !in.takes {
		return ""
	}
	if copy == 0 {
		s.asked = ""
		select { // the wait that it was to end is over
		case <-s.woken:
		default:
		}
	}
	if s.asked != "" {
		return s.asked
	}
	select {
	case s.asked = <-s.cancelled:
	default:
	}
	return s.asked
}

// Leave ends that. What the attempt has not taken counts as in a wait.
func (s *Signals) Leave(in *Inbox) {
	s.mu.Lock()
	s.running = slices.DeleteFunc(s.running, func(other *Inbox) bool { return other == in })
	rest := in.waiting
	in.waiting = nil
	s.mu.Unlock()
	for _, d := range rest {
		s.Answer(d, false)
	}
}

// NewInbox is for one attempt. takes says that the signals that reach the program
// are its command's too; those that stop and continue are in any case.
func NewInbox(takes bool) *Inbox { return &Inbox{takes: takes, arrived: make(chan struct{}, 1)} }

// Arrived has a token where something waits.
func (in *Inbox) Arrived() <-chan struct{} { return in.arrived }

// Next returns the oldest signal that waits in an inbox, nil for none. It has to
// be answered.
func (s *Signals) Next(in *Inbox) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(in.waiting) == 0 {
		return nil
	}
	d := in.waiting[0]
	in.waiting = in.waiting[1:]
	return d
}

// Answer says whether a signal was the attempt's: what comes after the command
// has ended is not.
func (s *Signals) Answer(d *Delivery, taken bool) {
	s.mu.Lock()
	d.open--
	d.taken = d.taken || taken
	last := d.open == 0
	s.mu.Unlock()
	if last {
		s.conclude(d)
	}
}

// Dispatch hands one signal to the attempts that run, or to the wait.
func (s *Signals) Dispatch(sig syscall.Signal) {
	if s.isMine(sig) {
		s.wake()
		return
	}
	d := &Delivery{Signal: sig}
	s.mu.Lock()
	if s.repeated(sig, time.Now()) {
		s.mu.Unlock()
		return
	}
	for _, in := range s.running {
		if !in.takes && !Stops(sig) && !Continues(sig) {
			continue
		}
		d.open++
		in.waiting = append(in.waiting, d)
		select {
		case in.arrived <- struct{}{}:
		default: // there is a token already
		}
		if Ends(sig) {
			s.asked = NameOf(sig)
		}
	}
	nobodys := d.open == 0
	s.mu.Unlock()
	if nobodys {
		s.conclude(d)
	}
}

// conclude deals with a signal of which all attempts know whether it was theirs.
func (s *Signals) conclude(d *Delivery) {
	switch sig := d.Signal; {
	case Stops(sig):
		s.stop(sig) // when every command has been stopped
	case d.taken:
	case Ends(sig):
		select {
		case s.cancelled <- NameOf(sig):
		default: // sixteen are waiting already
		}
		time.AfterFunc(stuckTime, func() { s.endStuck(sig) })
	case wakes(sig):
		select {
		case s.woken <- struct{}{}:
		default:
		}
	case slices.Contains(coreSignals, sig):
		Die(NameOf(sig)) // as without a handler
	}
}

// OnStop has stopping called before the terminal stops the program (Ctrl-Z), and
// going when it goes on.
func (s *Signals) OnStop(stopping, going func()) {
	if s.stopping.Swap(&stopping) == nil {
		s.catchStop()
	}
	s.going.Store(&going)
}

// stop stops the program.
func (s *Signals) stop(sig syscall.Signal) {
	stopping, going := s.stopping.Load(), s.going.Load()
	if stopping == nil || going == nil {
		StopSelf(sigStop)
		return
	}
	(*stopping)()
	s.stopAsUncaught(sig)
	(*going)()
}

// repeated reports whether sig, which asks for the end, came a moment ago already.
// Every other signal is passed on as often as it comes. s.mu is held.
func (s *Signals) repeated(sig syscall.Signal, now time.Time) bool {
	if !Ends(sig) {
		return false
	}
	before, seen := s.last[sig]
	if seen && now.Sub(before) < Same {
		return true
	}
	s.last[sig] = now
	return false
}

// stuckTime is far more than the program needs to end once it was asked to.
const stuckTime = 500 * time.Millisecond

// endStuck ends the program where it has been asked to and no command runs,
// but it is still there: it is blocked in a write that is not read, in which every
// program without a handler can be ended.
func (s *Signals) endStuck(sig syscall.Signal) {
	s.mu.Lock()
	busy := len(s.running) > 0
	s.mu.Unlock()
	if busy {
		time.AfterFunc(stuckTime, func() { s.endStuck(sig) })
		return
	}
	Die(NameOf(sig))
	os.Exit(exitcodes.OfSignal(int(sig))) // PID 1 cannot die by a signal
}

// Ends reports whether sig asks a program to end.
func Ends(sig syscall.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}
