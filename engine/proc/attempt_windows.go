package proc

// This file is the process of an attempt as Windows has it: one in a job, which
// takes all that it starts along, and in a console process group of its own.

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/windows"

	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/exitcodes"
)

// console has no foreground to be in.
type console struct{}

// command is the process of one attempt.
type command struct {
	process.Tree
	foreground bool // never: a process has no terminal of its own here
}

func (a *running) launch() bool { return a.fork() }
func (a *running) look() bool   { return a.HasEnded() }
func (a *running) dispose()     { a.Close() }

// passCancel asks the command to end. Its own console group does not get the
// console's Ctrl-C.
func (a *running) passCancel(sig syscall.Signal, sent bool) {
	if !sent {
		a.pass(sig)
		a.passed = time.Now()
	}
}

// pass asks the command's group to end, by the one event that can be sent to one.
// One that shares no console with the program cannot be asked: it is ended.
func (a *running) pass(syscall.Signal) {
	if a.Interrupt() != nil {
		a.escalate(syscall.SIGKILL)
	}
}

// There are no terminals of its own and no job control here.
func (a *running) prepare(bool)           {}
func (a *running) endedInForeground()     {}
func (a *running) catchMore()             {}
func (a *running) leaveTerminal()         {}
func (a *running) forward(syscall.Signal) {}

// Listen begins to catch the signals that end the program. Call it once, first of all.
func Listen() *Signals { return signals.Listen() }

// LookUp returns the error that Exec would end with for a command that is not
// there.
func LookUp(name string) error {
	_, err := process.LookUp(name)
	return err
}

// Exec stands in for the replacement of a process, which does not exist here:
// it runs the command and returns its code. The error says why it could not, and
// then the code is that of the error.
func Exec(_ *Signals, argv, env []string) (int, error) {
	var t process.Tree
	defer t.Close()
	if err := t.Start(argv, env, [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, nil); err != nil {
		return exitcodes.Of(err), err
	}
	how, _ := t.Wait(windows.INFINITE)
	if how.Err != nil {
		return exitcodes.Failure, how.Err
	}
	return how.Code, nil
}
