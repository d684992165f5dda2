package signals

// This file keeps Go's runtime from answering a signal by printing its stacks.

import (
	"syscall"

	"github.com/retrysh/retry/engine/proc/note"
)

// faultSignals are answered so too, and the runtime does not need them itself.
// SEGV and BUS are left to it: it turns its own into errors that code may
// recover from, as package fmt does.
var faultSignals = []syscall.Signal{syscall.SIGILL, syscall.SIGFPE}

// putAside are the runtime's actions for signals that are caught later, where
// these cannot be noted: catching a signal that the runtime handles already does
// not put its action back.
var putAside [realTimeMin]*rawAction

// NoStacks lets the signals that make Go's runtime print its stacks end the
// program as they end any other, QUIT and those of coreSignals after Listen or
// RestoreDispositions. Call it first of all.
func NoStacks() {
	for _, sig := range faultSignals {
		setDefault(sig)
	}
	for _, sig := range append([]syscall.Signal{syscall.SIGQUIT}, coreSignals...) {
		if note.Can {
			note.Start(int(sig))
			continue
		}
		putAside[sig] = new(rawAction)
		sigaction(sig, &rawAction{}, putAside[sig])
	}
}

// restoreAction gives a signal back to the runtime, which hands it out from now
// on.
func restoreAction(sig syscall.Signal) {
	if int(sig) < len(putAside) && putAside[sig] != nil {
		sigaction(sig, putAside[sig], nil)
	}
}
