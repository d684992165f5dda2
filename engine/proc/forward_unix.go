//go:build unix

package proc

// This file hands the signals that reach the program on to the command.

import (
	"syscall"
	"time"
)

// settleTime is what a stop or a continuation of a whole process group takes to
// reach all its members.
const settleTime = 20 * time.Millisecond

// take handles one signal for the attempt and reports whether it was the
// attempt's: what comes after the command has ended is not.
func (a *running) take(sig syscall.Signal) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	// The terminal signals the command and the program at once, and the command
	// may act on it and end before the program sees it (awaitTerminal).
	if a.over || !a.foreground && a.pid != 0 && ended(a.pid) {
		return a.takeLate(sig)
	}
	switch {
	case ends(sig):
		a.cancel(sig)
	case stops(sig):
		a.stopAll(sig)
	case sig == syscall.SIGCONT:
		a.contAt = time.Now()
		a.continueAll()
	case sig == syscall.SIGWINCH && a.foreground:
		// The terminal has told the whole group itself.
	default:
		a.pass(sig)
	}
	return true
}

// cancel notes that the program was asked to end. The command gets the signal
// once: the terminal sends its own to the whole foreground group.
func (a *running) cancel(sig syscall.Signal) {
	if a.result.Cancelled == "" {
		a.result.Cancelled = nameOf(sig)
	}
	terminals := a.foreground && sig != syscall.SIGTERM
	told := sig == a.signal && time.Since(a.expired) < sameSignal // by a limit, which an outer retry has as well
	if !terminals && !told || a.missed[sig] {
		delete(a.missed, sig)
		a.pass(sig)
		a.passed = time.Now()
	}
	a.resume()
	if sig == syscall.SIGINT || sig == syscall.SIGTERM {
		a.urge()
	}
}

// passMissed has the signals of the terminal passed on that came while the
// command was being started. One that did reach it has ended it, since it was
// too young to have a handler. If it has one by now, then this program was slow
// and the signal most likely came late, after the handler, and so reached it:
// of a press at a random moment in the first 6 ms, on a busy machine, 1 of 300
// was handled twice without this look.
func (a *running) passMissed(missed []syscall.Signal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.missed = map[syscall.Signal]bool{}
	for _, sig := range missed {
		a.missed[sig] = !handles(a.pid, sig)
	}
}

// awaitTerminal lets a signal of the terminal arrive that may be why the
// command has failed.
func (a *running) awaitTerminal(how ending) {
	if a.foreground && how != (ending{}) {
		a.signals.settle()
	}
}

// urge counts; the third time the tree is killed at once.
func (a *running) urge() {
	a.urged++
	if a.urged >= insist && !a.hurried && a.pid != 0 {
		a.hurried = true
		close(a.hurry)
		go a.end(syscall.SIGKILL)
	}
}

// takeLate handles a signal that came after the command had ended, while its
// tree was being ended or its output read.
func (a *running) takeLate(sig syscall.Signal) bool {
	if !ends(sig) {
		return false
	}
	if !a.left {
		a.left = true
		close(a.abandon)
	}
	if a.result.Cancelled == "" {
		// Nothing more is to be waited for.
		if !a.hurried {
			a.hurried = true
			close(a.hurry)
		}
		return false
	}
	if sig == syscall.SIGINT || sig == syscall.SIGTERM {
		a.urge()
	}
	return true
}

// pass sends sig to the command itself, as a kill of the pid would without the
// program in between.
func (a *running) pass(sig syscall.Signal) {
	if a.pid == 0 {
		return
	}
	if syscall.Kill(a.pid, sig) == syscall.EPERM {
		a.report.say("refused", "could not signal the command: operation not permitted")
	}
}

// resume lets a command that stands still act on what it was sent, as timeout(1)
// does: a background job that was stopped for reading the terminal would
// outlive a hang-up otherwise, and one that stopped itself a Ctrl-C.
func (a *running) resume() {
	if a.pid != 0 && standsStill(a.pid) {
		a.continueCommand()
	}
}

// continueCommand continues the command, with its group where that is its own.
func (a *running) continueCommand() {
	if a.foreground {
		_ = syscall.Kill(a.pid, syscall.SIGCONT)
		return
	}
	_ = syscall.Kill(-a.pid, syscall.SIGCONT)
}

// stopAll stops the command's group and then the program itself. In the
// foreground the terminal has stopped the command already.
func (a *running) stopAll(sig syscall.Signal) {
	if !a.foreground && a.pid != 0 {
		_ = syscall.Kill(-a.pid, sig)
	}
	stopSelf(syscall.SIGSTOP)
}

// continueAll lets a command go on that stands still. In the foreground the
// shell continues the whole group, so only one that was left behind needs it.
func (a *running) continueAll() {
	if a.pid == 0 {
		return
	}
	if !a.foreground {
		a.continueCommand()
		return
	}
	pid := a.pid
	time.AfterFunc(settleTime, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !a.over && standsStill(pid) {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	})
}

// onStop returns what to do when the command has stopped, nil for nothing. In
// the foreground of a terminal the program stops too, so that the shell gets
// its prompt back; unless the whole group was stopped, which a continuation
// ends for both, or no shell would notice and continue it.
func (a *running) onStop() func(syscall.Signal) {
	if !a.foreground || !underJobControl() {
		return nil
	}
	return func(sig syscall.Signal) {
		// The report may itself have waited for the continuation.
		noticed := time.Now().Add(-2 * settleTime)
		// Where the whole group was stopped, so is this program, in the first
		// pause. The second leaves a continuation the time to be caught.
		time.Sleep(settleTime)
		time.Sleep(settleTime)
		a.mu.Lock()
		alone := standsStill(a.pid) && a.contAt.Before(noticed)
		a.mu.Unlock()
		if alone {
			stopSelf(sig)
		}
	}
}
