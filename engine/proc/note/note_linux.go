//go:build amd64 || arm64

package note

import "sync/atomic"

// Can says that this system has such a handler.
const Can = true

// action is the kernel's struct sigaction (rt_sigaction(2)).
type action struct{ handler, flags, restorer, mask uintptr }

const (
	ignore   = 1          // SIG_IGN
	onStack  = 0x08000000 // SA_ONSTACK: a goroutine's stack may be too small
	restart  = 0x10000000 // SA_RESTART
	restorer = 0x04000000 // SA_RESTORER: x86 calls no handler without one
)

// signals is one more than the last signal there is.
const signals = 65

var (
	noted  [signals]uint32 // 1 for each signal that came while it was noted
	former [signals]action // what Start replaced: the actions of Go's runtime
	noting [signals]bool   // between Start and Stop
)

// The addresses of the handlers, as the kernel calls them, and of the code that a
// handler returns to, 0 for the kernel's own.
func noteSignalAddress() uintptr
func exitBySignalAddress() uintptr
func endHandlerAddress() uintptr

// sigaction is rt_sigaction(2); either action may be nil.
//
//go:noescape
func sigaction(sig uintptr, act, old *action)

// handle has the kernel call a handler for sig. Everything is blocked in it, by
// which others know a thread that is in it.
func handle(sig int, handler uintptr, old *action) {
	act := action{handler, onStack | restart, endHandlerAddress(), ^uintptr(0)}
	if act.restorer != 0 {
		act.flags |= restorer
	}
	sigaction(uintptr(sig), &act, old)
}

// Start makes sig set its word instead of what it did, until Stop, unless the kernel
// ignores it; once more is once. One goroutine at a time may call Start and Stop for one
// signal.
func Start(sig int) {
	if !noting[sig] && !ignored(sig) {
		noting[sig] = true
		handle(sig, noteSignalAddress(), &former[sig])
	}
}

// Stop gives sig back. A handler that runs on another thread at this moment
// still notes its signal.
func Stop(sig int) {
	if noting[sig] {
		noting[sig] = false
		sigaction(uintptr(sig), &former[sig], nil)
	}
}

// On reports whether sig is being noted.
func On(sig int) bool { return noting[sig] }

func ignored(sig int) bool {
	var now action
	sigaction(uintptr(sig), nil, &now)
	return now.handler == ignore
}

// Has reports whether sig is noted.
func Has(sig int) bool { return atomic.LoadUint32(&noted[sig]) != 0 }

// Take is Has, and forgets it.
func Take(sig int) bool { return atomic.SwapUint32(&noted[sig], 0) != 0 }

// Exit makes sig end the process with 128 plus its number, whatever its threads do,
// and reports whether it could.
func Exit(sig int) bool {
	handle(sig, exitBySignalAddress(), nil)
	return true
}
