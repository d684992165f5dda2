package proc

// This file keeps Go's runtime from answering a signal by printing its stacks.

import (
	"syscall"

	"github.com/retrysh/retry/engine/proc/note"
)

// stackSignals are those that the runtime answers so and does not need itself.
// SEGV and BUS are left to it: it turns its own into errors that code may
// recover from, as package fmt does.
var stackSignals = []syscall.Signal{syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGSTKFLT, syscall.SIGILL, syscall.SIGFPE}

// goQuit is the runtime's action for QUIT, put aside until QUIT is caught where
// it cannot be noted.
var goQuit rawAction

// NoStacks lets the signals that make Go's runtime print its stacks end the
// program as they end any other, QUIT after Listen or LetGo. Call it first of
// all.
func NoStacks() {
	if note.Can {
		note.Start(int(syscall.SIGQUIT))
	} else {
		sigaction(syscall.SIGQUIT, &rawAction{}, &goQuit)
	}
	for _, sig := range stackSignals {
		setDefault(sig)
	}
}

// quitCaught gives QUIT back to the runtime, which hands it out from now on.
func quitCaught() {
	if goQuit != (rawAction{}) {
		sigaction(syscall.SIGQUIT, &goQuit, nil)
	}
}
