//go:build unix

package proc

// This file is the process of an attempt as Unix has it: a leader with its tree,
// which may share the terminal's foreground with the program.

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/reap"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/spawn"
	"github.com/retrysh/retry/engine/proc/tree"
)

// command is the process of one attempt.
type command struct {
	*tree.Tree
	pid        int
	foreground bool // it shares the process group that has the terminal
	forGroup   bool // what the terminal sends its foreground is for the command's whole group

	missed map[syscall.Signal]bool // the terminal sent it when the command was not there yet
	contAt time.Time               // when CONT came last
}

// settleTime is what a stop or a continuation of a whole process group takes to
// reach all its members.
const settleTime = 20 * time.Millisecond

// prepare looks at what is there before the command. shares says that it may
// stay in the program's process group.
func (a *running) prepare(shares bool) {
	terminal := ForegroundTerminal()
	a.foreground, a.forGroup = shares && terminal, a.getsSignals && !shares && terminal
	a.Tree = tree.New(!a.foreground, a.spec.Env, a.report.say)
	if a.foreground {
		a.signals.Notify() // what the terminal sends has reached the command already
	}
}

// launch starts the command, unless the program has been asked to end already,
// and reports whether it did.
func (a *running) launch() bool {
	if !a.foreground {
		if !a.probe {
			a.signals.NotifyIfNoted()
		}
		return a.fork()
	}
	a.signals.BeginStart()
	started := a.fork()
	missed := a.signals.EndStart()
	if started {
		a.noteMissed(missed)
	}
	for _, sig := range missed {
		a.signals.Dispatch(sig)
	}
	return started
}

// fork is launch without the terminal. What arrives after the look at the inbox
// waits there until the command can get it.
func (a *running) fork() bool {
	if a.endsBeforeStart() {
		return false
	}
	if !a.probe {
		reap.Adopt()
	}
	a.started = time.Now()
	c, err := spawn.Start(a.spec.Argv, a.spec.Env, a.streams.Files(), !a.foreground, a.spec.Inherit)
	if asked, ok := errors.AsType[spawn.Interrupted](err); ok {
		a.notStarted(signals.NameOf(asked.By))
		return false
	}
	if err != nil {
		a.failed(err)
		return false
	}
	a.pid = c.Pid()
	if a.probe {
		a.Tree = tree.Below(c, a.report.say) // its orphans are not the program's
	} else {
		a.Lead(c)
	}
	return true
}

// look returns how the command has ended, and whether it has; it leaves it
// unreaped. In the foreground of a terminal the program stops with the command,
// so that the shell gets its prompt back; unless the whole group was stopped,
// which a continuation ends for both, or no shell would notice and continue it.
func (a *running) look() (reap.Ending, bool) {
	how, over := reap.Look(a.pid, a.foreground)
	if over || !a.foreground {
		return how, over
	}
	if sig, stopped := reap.StoppedBy(a.pid); stopped && underJobControl() {
		// The report may itself have waited for the continuation.
		noticed := time.Now().Add(-2 * settleTime)
		// Where the whole group was stopped, so is this program, in the first
		// pause. The second leaves a continuation the time to be caught.
		a.after(2*settleTime, func() {
			if !a.over && reap.StandsStill(a.pid) && a.contAt.Before(noticed) {
				_ = syscall.Kill(unix.Getpid(), sig)
			}
		})
	}
	return how, false
}

// awaitTerminal lets a signal of the terminal arrive that may be why the
// command has failed.
func (a *running) awaitTerminal(how reap.Ending) {
	if a.foreground && how != (reap.Ending{}) {
		a.signals.Settle()
		a.handleSignals()
	}
}

// catchMore has caught what only a running command has a use for. In the
// foreground the terminal's stop has reached the command already, and stops the
// program as well.
func (a *running) catchMore() {
	var more []syscall.Signal
	for _, sig := range signals.Forwarded() {
		if !a.foreground || !signals.Stops(sig) {
			more = append(more, sig)
		}
	}
	a.signals.NotifyMore(more)
	a.resize() // what came before was not caught
}

// resize has the command's terminals follow the user's. The foreground group
// was signalled before they had the new size, so it is signalled again.
func (a *running) resize() {
	if a.streams.Resize() && a.foreground {
		_ = syscall.Kill(0, syscall.SIGWINCH)
	}
}

// passCancel passes on a signal that asks for the end, unless the command has
// got it: the terminal sends its own to the whole foreground group.
func (a *running) passCancel(sig syscall.Signal, sent bool) {
	terminals := a.foreground && sig != syscall.SIGTERM
	if !terminals && !sent || a.missed[sig] {
		delete(a.missed, sig)
		if a.forGroup && sig != syscall.SIGTERM {
			a.passToGroup(sig)
		} else {
			a.pass(sig)
		}
		a.passed = time.Now()
	}
	// A command that is stopped has to act on it, as timeout(1) sees to: a background
	// job that was stopped for reading the terminal would outlive a hang-up
	// otherwise, and one that stopped itself a Ctrl-C.
	if reap.StandsStill(a.pid) {
		a.passToGroup(syscall.SIGCONT)
	}
}

// forward passes on a signal that ends nothing.
func (a *running) forward(sig syscall.Signal) {
	if sig == syscall.SIGWINCH || signals.Continues(sig) {
		a.resize()
	}
	switch {
	case a.foreground && (signals.Stops(sig) || sig == syscall.SIGWINCH):
		// The terminal has signalled the whole group itself.
	case signals.Stops(sig):
		a.passToGroup(sig) // the program stops when every attempt has done this
	case signals.Continues(sig):
		a.contAt = time.Now()
		a.continueCommand()
	default:
		a.pass(sig)
	}
}

// noteMissed notes which signals of the terminal have to be passed on that came
// while the command was being started. One that did reach it has ended it, since
// it was too young to have a handler. If it has one by now, then this program was
// slow and the signal most likely came late, after the handler, and so reached it.
func (a *running) noteMissed(missed []syscall.Signal) {
	a.missed = map[syscall.Signal]bool{}
	for _, sig := range missed {
		a.missed[sig] = !signals.Handles(a.pid, sig)
	}
}

// pass sends sig to the command itself, as a kill of the pid would without the
// program in between.
func (a *running) pass(sig syscall.Signal) {
	if syscall.Kill(a.pid, sig) == syscall.EPERM {
		a.report.say("could not signal the command: operation not permitted")
	}
}

// passToGroup sends sig to the command, with its group where that is its own.
func (a *running) passToGroup(sig syscall.Signal) {
	pid := a.pid
	if !a.foreground {
		pid = -pid
	}
	_ = syscall.Kill(pid, sig)
}

// continueCommand continues a command that is stopped. In the foreground the
// shell continues the whole group, so only one that was left behind needs it.
func (a *running) continueCommand() {
	if !a.foreground {
		a.passToGroup(syscall.SIGCONT)
		return
	}
	a.after(settleTime, func() {
		if !a.over && reap.StandsStill(a.pid) {
			a.passToGroup(syscall.SIGCONT)
		}
	})
}

// dispose sees to it that orphans are reaped while no command runs, where there
// are any descendants that could become one.
func (a *running) dispose() {
	if a.Tree != nil {
		a.Close()
	}
	if !a.probe && reap.LivingChildren() {
		reap.Listen()
		reap.Orphans()
	}
}

// Listen sees to it that no signal which asks for the end is lost from now on.
// Call it once, early: as PID 1 a signal that is not caught is lost.
func Listen() *Signals {
	s := signals.Listen()
	if unix.Getpid() == 1 {
		reap.Listen() // every orphan of the container comes here
	}
	return s
}
