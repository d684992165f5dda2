//go:build unix

package proc

// This file is the process of an attempt on Unix: a leader with its tree, which may share
// the terminal's foreground with the program.

import (
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/signals"
)

// command is the process of one attempt.
type command struct {
	*process.Tree
	foreground bool // it shares the process group that has the terminal
	forGroup   bool // what the terminal sends its foreground is for the command's whole group

	missed     map[syscall.Signal]bool // the terminal sent it before the command could get it
	continuing int                     // each CONT from its arrival until continueStopped
}

// settleTime is how long a stop or a continuation takes to reach a whole process group.
const settleTime = 20 * time.Millisecond

// prepare notes what exists before the command, which with shares may stay in the program's
// process group.
func (a *running) prepare(shares bool) {
	if !a.probe && a.console.hasForeground() {
		a.foreground, a.forGroup = shares, !shares
	}
	a.Tree = process.New(!a.foreground, a.probe, a.spec.Env, a.warning.say)
}

// launch is fork, in the foreground of a terminal with care for what it sends meanwhile.
func (a *running) launch() bool {
	if !a.foreground {
		return a.fork()
	}
	a.signals.BeginStart()
	started := a.fork()
	a.dispatchMissed(started, a.signals.EndStart())
	return started
}

// dispatchMissed dispatches what the terminal sent its foreground during the start, and notes
// what the command has missed: a signal that reached it has ended it, unless it had a handler.
// If it has one now, the signal most likely came after that.
func (a *running) dispatchMissed(started bool, meanwhile []syscall.Signal) {
	a.missed = map[syscall.Signal]bool{}
	for _, sig := range meanwhile {
		a.missed[sig] = started && !signals.Handles(a.Pid(), sig)
		a.signals.Dispatch(sig)
	}
}

// look reports whether the command has ended. In the foreground of a terminal the program
// stops with the command, so that the shell shows its prompt; unless the whole group was
// stopped, which a continuation ends for both, or no shell would continue it.
func (a *running) look() bool {
	if a.HasEnded() {
		return true
	}
	if !a.foreground {
		return false
	}
	if sig, stopped := a.StoppedBy(); stopped && underJobControl() {
		// If the whole group was stopped, this program is stopped in the first pause, for
		// whatever time. In the second a continuation arrives.
		a.onTimer(settleTime, func() {
			a.onTimer(settleTime, func() { a.stopWithCommand(sig) })
		})
	}
	return false
}

// stopWithCommand stops the program by what has stopped the command, unless that is about to
// be continued.
func (a *running) stopWithCommand(sig syscall.Signal) {
	a.handleSignals() // a continuation may wait
	if a.continuing == 0 && a.IsStopped() {
		_ = syscall.Kill(unix.Getpid(), sig)
	}
}

// endedInForeground waits for a signal of the terminal that may have ended the command.
func (a *running) endedInForeground() {
	code, sig := a.EndedBy()
	if code == 0 && sig == 0 {
		return
	}
	a.signals.Settle()
	a.handleSignals()
	if a.result.Cancelled == "" && (sig == syscall.SIGINT || sig == syscall.SIGQUIT) {
		a.result.Cancelled = signals.NameOf(sig)
	}
}

// catchMore begins to handle signals that only a command uses. In the foreground the
// terminal stops command and program itself.
func (a *running) catchMore() {
	terminals := func(sig syscall.Signal) bool { return a.foreground && signals.Stops(sig) }
	a.signals.Catch(slices.DeleteFunc(signals.Forwarded(), terminals))
	a.resize() // an earlier signal was not handled
}

// resize gives the command's terminals the size of the user's. The foreground group got its
// signal before that, so it is signalled again.
func (a *running) resize() {
	if a.streams.Resize() && a.foreground {
		_ = syscall.Kill(0, syscall.SIGWINCH)
	}
}

// passCancel forwards a signal that asks for the end, unless the command has got it: the
// terminal signals the whole foreground group.
func (a *running) passCancel(sig syscall.Signal, sent bool) {
	terminals := a.foreground && sig != syscall.SIGTERM
	if !terminals && !sent || a.missed[sig] {
		delete(a.missed, sig)
		if a.forGroup && sig != syscall.SIGTERM {
			a.SignalGroup(sig)
		} else {
			a.pass(sig)
		}
		a.passed = time.Now()
	}
	// A stopped command is continued to handle it, as by timeout(1). Else a background job
	// that was stopped for reading the terminal would survive a hang-up.
	a.continueStopped()
}

func (a *running) continueStopped() {
	if a.IsStopped() {
		a.SignalGroup(syscall.SIGCONT)
	}
}

// forward forwards any other signal.
func (a *running) forward(sig syscall.Signal) {
	if sig == syscall.SIGWINCH || signals.Continues(sig) {
		a.resize()
	}
	switch {
	case a.foreground && (signals.Stops(sig) || sig == syscall.SIGWINCH):
		// The terminal has signalled the whole group.
	case a.foreground && signals.Continues(sig):
		// The shell continues the whole group: only a command that is still stopped then
		// needs it.
		a.continuing++
		a.onTimer(settleTime, func() {
			a.continuing--
			a.continueStopped()
		})
	case signals.Stops(sig), signals.Continues(sig):
		a.SignalGroup(sig) // the program stops when every attempt has done this
	default:
		a.pass(sig)
	}
}

// pass sends sig to the command itself, or with SignalGroup to its process group. PID 1 can
// share that with the command only: then it signals all others in it.
func (a *running) pass(sig syscall.Signal) {
	switch {
	case a.cfg.SignalGroup && !a.foreground:
		a.SignalGroup(sig)
	case a.cfg.SignalGroup && unix.Getpid() == 1:
		a.SignalSharedGroup(sig)
	case a.Signal(sig) == syscall.EPERM:
		a.warning.say("could not signal the command: operation not permitted")
	}
}

// leaveTerminal takes the terminal back after the command.
func (a *running) leaveTerminal() {
	if a.foreground {
		a.console.takeBack()
	}
}

// dispose reaps orphans, also later while no command runs if there are descendants.
func (a *running) dispose() {
	a.Close()
	if !a.probe && process.LivingChildren() {
		process.Listen()
		process.Orphans()
	}
}

// Listen catches the signals that reach the program. Call it once, first of all.
func Listen() *Signals {
	s := signals.Listen()
	if unix.Getpid() == 1 {
		process.Listen() // it adopts every orphan of the container
	}
	return s
}
