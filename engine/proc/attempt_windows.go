package proc

// This file is the process of an attempt as Windows has it: one in a job, which
// takes all that it starts along, and in a console process group of its own.

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/windows"

	"github.com/retrysh/retry/engine/proc/reap"
	"github.com/retrysh/retry/engine/proc/spawn"
	"github.com/retrysh/retry/exitcodes"
)

// command is the process of one attempt.
type command struct {
	child      *spawn.Process // nil until it has started
	exited     chan struct{}  // closed when it has ended; nil before listen
	foreground bool           // never: a process has no terminal of its own here
}

func (a *running) prepare(bool) {}

func (a *running) isStarted() bool { return a.child != nil }

func (a *running) hasEnded() bool {
	_, over := a.child.Wait(0)
	return over
}

// launch starts the command, unless the program has been asked to end already,
// and reports whether it did.
func (a *running) launch() bool {
	if a.endsBeforeStart() {
		return false
	}
	a.started = time.Now()
	c, err := spawn.Start(a.spec.Argv, a.spec.Env, a.streams.Files(), a.spec.Inherit)
	if err != nil {
		a.failed(err)
		return false
	}
	a.child = c
	return true
}

func (a *running) awaitUntil(limit time.Duration) (reap.Ending, bool) {
	if limit < 0 {
		return reap.Ending{}, false
	}
	return a.child.Wait(uint32(limit / time.Millisecond))
}

// listen makes the end of the command close exited.
func (a *running) listen() {
	exited := make(chan struct{})
	a.exited = exited
	go func() {
		defer close(exited)
		a.child.Wait(windows.INFINITE)
	}()
}

func (a *running) moved() <-chan struct{} { return a.exited }

func (a *running) look() (reap.Ending, bool) { return a.child.Wait(0) }

func (a *running) awaitTerminal(reap.Ending) {}

func (a *running) catchMore() {}

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
	if a.child != nil && a.child.Interrupt() != nil {
		a.escalate(syscall.SIGKILL)
	}
}

func (a *running) forward(syscall.Signal) {}

// endTree asks the command's group to end by Ctrl-Break and, after the grace,
// ends the job. It returns when that is done.
func (a *running) endTree(sig syscall.Signal, grace time.Duration, now <-chan struct{}) {
	const look = 10 * time.Millisecond
	if sig != syscall.SIGKILL && a.child.Interrupt() == nil {
		for limit := time.Now().Add(grace); a.child.Living() > 0 && time.Now().Before(limit); {
			select {
			case <-now:
				limit = time.Now()
			case <-time.After(look):
			}
		}
	}
	for a.child.Terminate(); a.child.Living() > 0; a.child.Terminate() {
		time.Sleep(look)
	}
}

func (a *running) noteTree() {}

func (a *running) isShared() bool { return false }

func (a *running) reapLeader() reap.Ending {
	how, _ := a.child.Wait(0)
	return how
}

func (a *running) dispose() {
	if a.exited != nil { // until then a goroutine waits for the process
		<-a.exited
	}
	if a.child != nil {
		a.child.Close()
	}
}

// LookUp returns the error that Exec would end with for a command that is not
// there.
func LookUp(name string) error {
	_, err := spawn.LookUp(name)
	return err
}

// Exec stands in for the replacement of a process, which does not exist here:
// it runs the command and returns its code. The error says why it could not, and
// then the code is that of the error.
func Exec(_ *Signals, argv, env []string) (int, error) {
	c, err := spawn.Start(argv, env, [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, nil)
	if err != nil {
		return exitcodes.Of(err), err
	}
	defer c.Close()
	how, _ := c.Wait(windows.INFINITE)
	if how.Err != nil {
		return exitcodes.Failure, how.Err
	}
	return how.Code, nil
}

// listenForOrphans does nothing: processes are not reaped here.
func listenForOrphans() {}
