// Package signals owns os/signal. It catches the signals that reach the program, and
// decides whether each belongs to the attempts that run, or to the wait between them. It
// also ends the program by a signal, so that its parent sees it.
//
// What a signal means for a command, and how it gets there, is the attempt's
// matter; nothing here sends one to another process. SIGCHLD is package process's.
package signals

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

// ForwardingDelay is how long a command runs before the signals are caught that only a longer one
// has a use for, and before any is handed to it. A command that ends sooner is spared the
// cost.
const ForwardingDelay = 3 * time.Millisecond

// endingSignals ask the program to end. QUIT is first since Go's own answer to
// it, until it is caught, is to print every stack.
var endingSignals = []syscall.Signal{syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// Ends reports whether sig asks a program to end.
func Ends(sig syscall.Signal) bool { return slices.Contains(endingSignals, sig) }

// Signals catches signals. While attempts run, they get the signals. Otherwise those that
// end the program come out of Cancelled.
type Signals struct {
	catcher
	cancelled chan attempt.Signal
	woken     chan struct{}

	isOwn  atomic.Pointer[func() bool]
	onStop atomic.Pointer[stopCalls]

	mu      sync.Mutex // a leaf
	running []*Inbox   // of the attempts that run
	asked   attempt.Signal
	last    map[syscall.Signal]time.Time
	ending  bool      // a signal has asked for the end
	limit   time.Time // the deadline of the run, the zero time for none
}

// Inbox holds the signals of one attempt until the goroutine that owns the
// attempt takes them.
type Inbox struct {
	takes   bool          // signals that reach the program are the command's too
	Arrived chan struct{} // has a token if something waits
	waiting []*delivery   // guarded by Signals.mu
}

// delivery is one signal on its way to all attempts that run. Whose it was is
// known when the last of them has answered.
type delivery struct {
	signal syscall.Signal
	open   int  // answers that are missing
	taken  bool // by one of them at least
}

// New returns a place for signals that none reach, for commands that only answer a
// question. Listen returns the one that they do.
func New() *Signals {
	return &Signals{
		cancelled: make(chan attempt.Signal, 16), woken: make(chan struct{}, 1), last: map[syscall.Signal]time.Time{},
	}
}

// Cancelled delivers the signals that ask the program to end
// (INT, TERM, HUP, QUIT) and belonged to no attempt.
func (s *Signals) Cancelled() <-chan attempt.Signal { return s.cancelled }

// Woken delivers a USR1 that arrived while no command ran: the wait is over.
func (s *Signals) Woken() <-chan struct{} { return s.woken }

// SetOwnSignal has isOwn called for each USR1, from any goroutine, while no lock is held. If
// it returns true, the signal was sent to end a wait, and no command gets it.
func (s *Signals) SetOwnSignal(isOwn func() bool) { s.isOwn.Store(&isOwn) }

func (s *Signals) isOwnSignal(sig syscall.Signal) bool {
	isOwn := s.isOwn.Load()
	return wakes(sig) && isOwn != nil && (*isOwn)()
}

// offer sends v if the channel takes it at once.
func offer[T any](to chan<- T, v T) {
	select {
	case to <- v:
	default:
	}
}

// Enter adds the inbox of an attempt that runs. If the program has been
// asked to end, and that has not been received from Cancelled, it returns the
// signal: no command is to be run. A copy beside another attempt also gets what
// the other one has got.
func (s *Signals) Enter(in *Inbox, copy int) attempt.Signal {
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
	if s.asked == "" {
		select {
		case s.asked = <-s.cancelled:
		default:
		}
	}
	return s.asked
}

// Leave ends that. What the attempt has not taken counts as in a wait.
func (s *Signals) Leave(in *Inbox) {
	s.mu.Lock()
	s.running = slices.DeleteFunc(s.running, func(other *Inbox) bool { return other == in })
	s.mu.Unlock()
	s.Handle(in, func(syscall.Signal) bool { return false })
}

// NewInbox is for one attempt. takes says that the signals that reach the program
// are its command's too; those that stop and continue are in any case.
func NewInbox(takes bool) *Inbox { return &Inbox{takes: takes, Arrived: make(chan struct{}, 1)} }

// Handle calls take for each signal that waits in an inbox, the oldest first. take
// reports whether the signal was the attempt's: what comes after the command has
// ended is not.
func (s *Signals) Handle(in *Inbox, take func(syscall.Signal) bool) {
	s.mu.Lock()
	waiting := in.waiting
	in.waiting = nil
	s.mu.Unlock()
	for _, d := range waiting {
		taken := take(d.signal)
		s.mu.Lock()
		d.open--
		d.taken = d.taken || taken
		then := s.conclude(d)
		s.mu.Unlock()
		then()
	}
}

// Dispatch hands one signal to the attempts that run, or to the wait.
func (s *Signals) Dispatch(sig syscall.Signal) {
	own := s.isOwnSignal(sig)
	d, then := &delivery{signal: sig}, func() {}
	s.mu.Lock()
	switch {
	case own:
		if !slices.ContainsFunc(s.running, func(in *Inbox) bool { return in.takes }) {
			offer(s.woken, struct{}{})
		}
	case !s.repeated(sig):
		s.ending = s.ending || Ends(sig)
		s.deliverTo(d)
		then = s.conclude(d)
	}
	s.mu.Unlock()
	then()
}

// deliverTo puts d into the inboxes of those that get it; s.mu is held.
func (s *Signals) deliverTo(d *delivery) {
	for _, in := range s.running {
		if !in.takes && !Stops(d.signal) && !Continues(d.signal) {
			continue
		}
		d.open++
		in.waiting = append(in.waiting, d)
		offer(in.Arrived, struct{}{})
		if Ends(d.signal) {
			s.asked = NameOf(d.signal)
		}
	}
}

// conclude deals with a signal when all attempts that got it know whether it was theirs,
// and returns what follows without the lock. s.mu is held since the delivery: an attempt
// that enters later finds the signal in cancelled.
func (s *Signals) conclude(d *delivery) (then func()) {
	sig := d.signal
	switch {
	case d.open > 0:
	case Stops(sig):
		return func() { s.stop(sig) } // when every command has been stopped
	case d.taken:
	case Ends(sig):
		offer(s.cancelled, NameOf(sig))
		return func() { time.AfterFunc(stuckLook, func() { s.endStuck(sig, 1) }) }
	case wakes(sig):
		offer(s.woken, struct{}{})
	case slices.Contains(coreSignals, sig):
		return func() { Die(NameOf(sig)) } // as without a handler
	}
	return func() {}
}

// stopCalls are called before the program stops with its job, and when it goes on.
type stopCalls struct{ stopping, going func() }

// OnStop has stopping called before the terminal stops the program (Ctrl-Z), and
// going when it goes on.
func (s *Signals) OnStop(stopping, going func()) {
	if s.onStop.Swap(&stopCalls{stopping, going}) == nil {
		s.catchStop()
	}
}

// repeated reports whether sig, which asks for the end, came a moment ago already.
// Every other signal is passed on as often as it comes. s.mu is held.
func (s *Signals) repeated(sig syscall.Signal) bool {
	again := Ends(sig) && time.Since(s.last[sig]) < Same
	if !again {
		s.last[sig] = time.Now()
	}
	return again
}

// EndsAt sets the deadline of the run, 0 for none.
func (s *Signals) EndsAt(deadline time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = deadline
}

// IsEnding reports whether the run is to end, by a signal or its deadline, and no command
// runs. A reader that takes nothing is then given up.
func (s *Signals) IsEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running) == 0 && (s.ending || !s.limit.IsZero() && !time.Now().Before(s.limit))
}

// DieOfPending ends the program by a signal that asks for the end and was no attempt's, if
// there is one.
func (s *Signals) DieOfPending() {
	select {
	case sig := <-s.cancelled:
		exitBy(sig)
	default:
	}
}

// stuckTime is far more than the program needs to end once it was asked to and nothing is
// busy. It is counted in looks: a program that a busy machine did not run for as long has had
// one.
const (
	stuckTime = 500 * time.Millisecond
	stuckLook = stuckTime / 10
)

// Ending counts what may take longer: commands that only answer a question and are being
// ended, runs that are being parked, and output that is written while its reader takes some.
var Ending atomic.Int32

// endStuck ends the program if it has been asked to and no command runs, but it is still
// there: it is blocked in a call in which every program without a handler can be ended.
// looks are those in a row, with this one, that find it idle.
func (s *Signals) endStuck(sig syscall.Signal, looks int) {
	switch {
	case s.isBusy():
		looks = 0
	case looks >= int(stuckTime/stuckLook):
		exitBy(NameOf(sig))
	}
	time.AfterFunc(stuckLook, func() { s.endStuck(sig, looks+1) })
}

func (s *Signals) isBusy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running) > 0 || Ending.Load() > 0
}

// Interruptible calls f, which may be slow, before the first attempt. A signal that asks
// for the end ends the program meanwhile, also if s is nil: no signal is caught then.
func (s *Signals) Interruptible(f func()) {
	if s == nil {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case sig := <-s.cancelled:
		exitBy(sig)
	}
}

// EndAtOnce has a signal that asks for the end end the program, which runs no command.
func (s *Signals) EndAtOnce() {
	go func() { exitBy(<-s.cancelled) }()
}

// exitBy ends the program by sig, or by its code: PID 1 cannot die by a signal.
func exitBy(sig attempt.Signal) {
	Die(sig)
	os.Exit(ExitCode(sig))
}

// SignalOf returns the signal with a number on this system, and whether there is one that
// a program may name.
func SignalOf(n int) (attempt.Signal, bool) {
	name := NameOf(syscall.Signal(n))
	_, ok := NumberOf(name)
	return name, ok
}

// ExitCode is the code by which a shell shows a death by s.
func ExitCode(s attempt.Signal) int {
	n, _ := NumberOf(s)
	return exitcodes.OfSignal(n)
}
