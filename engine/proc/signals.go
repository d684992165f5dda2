package proc

// This file decides whose a caught signal is: that of the attempts that run, or
// of the wait between them. How signals are caught is each system's own matter.

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// sameSignal is how long INT, TERM, HUP or QUIT again counts as one: timeout(1)
// signals its child and then its group, and a hang-up comes from the terminal
// and from the shell.
const sameSignal = 100 * time.Millisecond

// Signals catches signals. While attempts run they are the attempts'; otherwise
// those that end the program come out of Cancelled.
type Signals struct {
	catcher
	cancelled chan attempt.Signal
	woken     chan struct{}

	mu      sync.Mutex // a leaf: only system calls while it is held
	running []*inbox   // of the attempts that run
	asked   attempt.Signal
	last    map[syscall.Signal]time.Time
}

// inbox holds the signals of one attempt until the goroutine that owns the
// attempt takes them.
type inbox struct {
	takes   bool          // signals that reach the program are the command's too
	arrived chan struct{} // has a token where something waits
	waiting []*delivery   // guarded by Signals.mu
}

// delivery is one signal on its way to all attempts that run. Whose it was is
// known when the last of them has answered.
type delivery struct {
	sig   syscall.Signal
	open  int  // answers that are missing
	taken bool // by one of them at least
}

func newSignals() *Signals {
	return &Signals{
		cancelled: make(chan attempt.Signal, 16), woken: make(chan struct{}, 1),
		last: map[syscall.Signal]time.Time{},
	}
}

// Cancelled delivers, after Catch, the signals that ask the program to end
// (INT, TERM, HUP, QUIT) and arrived while no command ran whose they were.
func (s *Signals) Cancelled() <-chan attempt.Signal { return s.cancelled }

// Woken delivers, after Catch, a USR1 that arrived while no command ran: the wait is over.
func (s *Signals) Woken() <-chan struct{} { return s.woken }

// enter makes in the inbox of an attempt that runs. Where the program has been
// asked to end, and nobody has taken that from Cancelled yet, it returns the
// signal: no command is to be run. A copy beside another attempt also gets what
// the other one has got.
func (s *Signals) enter(in *inbox, copy int) attempt.Signal {
	if in.takes && copy == 0 {
		forgetEarly()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = append(s.running, in)
	if !in.takes {
		return ""
	}
	if copy == 0 {
		s.asked = ""
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

// leave ends that. What the attempt has not taken counts as in a wait.
func (s *Signals) leave(in *inbox) {
	s.mu.Lock()
	s.running = slices.DeleteFunc(s.running, func(other *inbox) bool { return other == in })
	rest := in.waiting
	in.waiting = nil
	s.mu.Unlock()
	for _, d := range rest {
		s.answer(d, false)
	}
}

// next returns the oldest signal that waits in an inbox, nil for none. It has to
// be answered.
func (s *Signals) next(in *inbox) *delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(in.waiting) == 0 {
		return nil
	}
	d := in.waiting[0]
	in.waiting = in.waiting[1:]
	return d
}

// answer says whether a signal was the attempt's: what comes after the command
// has ended is not.
func (s *Signals) answer(d *delivery, taken bool) {
	s.mu.Lock()
	d.open--
	d.taken = d.taken || taken
	last := d.open == 0
	s.mu.Unlock()
	if last {
		s.conclude(d)
	}
}

// dispatch hands one signal to the attempts that run, or to the wait.
func (s *Signals) dispatch(sig syscall.Signal) {
	d := &delivery{sig: sig}
	s.mu.Lock()
	if s.again(sig, time.Now()) {
		s.mu.Unlock()
		return
	}
	for _, in := range s.running {
		if !in.takes && !stops(sig) && !continues(sig) {
			continue
		}
		d.open++
		in.waiting = append(in.waiting, d)
		select {
		case in.arrived <- struct{}{}:
		default: // it has been told already
		}
		if ends(sig) {
			s.asked = nameOf(sig)
		}
	}
	nobodys := d.open == 0
	s.mu.Unlock()
	if nobodys {
		s.conclude(d)
	}
}

// conclude deals with a signal of which all attempts know whether it was theirs.
func (s *Signals) conclude(d *delivery) {
	switch sig := d.sig; {
	case stops(sig):
		stopSelf(sigStop) // when every command has been stopped
	case d.taken:
	case ends(sig):
		select {
		case s.cancelled <- nameOf(sig):
		default: // sixteen are waiting already
		}
		time.AfterFunc(stuckTime, func() { s.endStuck(sig) })
	case wakes(sig):
		select {
		case s.woken <- struct{}{}:
		default:
		}
	case slices.Contains(coreSignals, sig):
		Die(nameOf(sig)) // as without a handler
	}
}

// again reports whether sig, which asks for the end, came a moment ago already.
// Every other signal is passed on as often as it comes. s.mu is held.
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

// stuckTime is far more than the program needs to end once it was asked to.
const stuckTime = 500 * time.Millisecond

// endStuck ends the program where it has been asked to and no command runs,
// but it is still there: it is stuck in writing to somebody who does not read,
// as every program without a handler could then be ended.
func (s *Signals) endStuck(sig syscall.Signal) {
	s.mu.Lock()
	busy := len(s.running) > 0
	s.mu.Unlock()
	if busy {
		time.AfterFunc(stuckTime, func() { s.endStuck(sig) })
		return
	}
	Die(nameOf(sig))
	os.Exit(exitcodes.OfSignal(int(sig))) // PID 1 cannot die by a signal
}

// ends reports whether sig asks a program to end.
func ends(sig syscall.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}
