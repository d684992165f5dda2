package signals

import (
	"syscall"
	"time"
	"unsafe"
)

// unblock lets sig through to the calling thread.
func unblock(sig syscall.Signal) {
	const sigUnblock = 2 // SIG_UNBLOCK of sys/signal.h
	mask := uint32(1) << (uint(sig) - 1)
	_, _, _ = syscall.RawSyscall(syscall.SYS___PTHREAD_SIGMASK, sigUnblock, uintptr(unsafe.Pointer(&mask)), 0)
}

// raise sends sig to the program.
func raise(sig syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), sig) }

// notDumpable has no counterpart here; the core limit is enough.
func notDumpable() {}

// awaitHandlers gives a handler that runs on another thread the time to end:
// far more than it takes.
func awaitHandlers() { time.Sleep(time.Millisecond) }

// leaveHandlers is awaitHandlers for before an exec.
func leaveHandlers() { awaitHandlers() }

// Handles is not known here.
func Handles(int, syscall.Signal) bool { return false }

// setExit is of no use here: programs are never PID 1.
func setExit(syscall.Signal) bool { return false }
