//go:build amd64 || arm64

package signals

// This file gives a signal an action that no default one can be for PID 1: it
// Ends the process.

import "syscall"

// exitBySignal is a signal handler that exits with 128 plus the signal's
// number, from whichever thread and whatever that is doing.
//
//lint:ignore U1000 only the kernel calls it
func exitBySignal()

// exitBySignalAddress is where exitBySignal is, as the kernel calls it.
func exitBySignalAddress() uintptr

// setExit makes sig end the process with 128+n and reports whether that can be
// done.
func setExit(sig syscall.Signal) bool {
	const (
		onStack  = 0x08000000 // SA_ONSTACK: a goroutine's stack may be too small
		restorer = 0x04000000 // SA_RESTORER: x86 calls no handler without one
	)
	handler := exitBySignalAddress()
	// The kernel's sigaction: handler, flags, restorer, which is never reached,
	// and the mask.
	action := rawAction{handler, onStack | restorer, handler, ^uintptr(0)}
	return sigaction(sig, &action, nil) == 0
}
