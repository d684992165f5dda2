package signals

// This file holds what macOS alone knows about signals.

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// There are no real-time signals on macOS.
const realTimeMin, realTimeMax = 0, 0

// These are explained for Linux.
var (
	earlySignals = []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH}
	laterSignals = []syscall.Signal{
		syscall.SIGABRT, syscall.SIGCONT, syscall.SIGVTALRM, syscall.SIGIO, syscall.SIGXCPU, syscall.SIGINFO,
	}
	coreSignals = []syscall.Signal{syscall.SIGABRT}
	strayFaults = []os.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE}
)

// rawAction is larger than the kernel's struct __sigaction, which begins
// with the handler; all zeros is the default action without flags.
type rawAction [8]uintptr

// sigaction is sigaction(2), of which Go's runtime knows nothing; either action may be
// nil.
func sigaction(sig syscall.Signal, action, old *rawAction) syscall.Errno {
	_, _, errno := syscall.RawSyscall(syscall.SYS_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(action)),
		uintptr(unsafe.Pointer(old)))
	return errno
}

// unblock empties the calling thread's mask.
func unblock() {
	const sigSetMask = 3 // SIG_SETMASK of sys/signal.h
	var mask uint32
	_, _, _ = syscall.RawSyscall(syscall.SYS___PTHREAD_SIGMASK, sigSetMask, uintptr(unsafe.Pointer(&mask)), 0)
}

// WithoutTTOU calls f on a thread on which TTOU is blocked: the kernel sends it to a process
// out of the foreground that sets the foreground group (tcsetpgrp(3)).
func WithoutTTOU(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const sigBlock, sigSetMask = 1, 3 // SIG_BLOCK and SIG_SETMASK of sys/signal.h
	blocked, before := uint32(1)<<(syscall.SIGTTOU-1), uint32(0)
	_, _, _ = syscall.RawSyscall(syscall.SYS___PTHREAD_SIGMASK, sigBlock, uintptr(unsafe.Pointer(&blocked)),
		uintptr(unsafe.Pointer(&before)))
	f()
	_, _, _ = syscall.RawSyscall(syscall.SYS___PTHREAD_SIGMASK, sigSetMask, uintptr(unsafe.Pointer(&before)), 0)
}

// raise sends sig to the program.
func raise(sig syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), sig) }

// stopAsUncaught stops the program: what it would read of Go's action here is not
// what could be put back.
func stopAsUncaught(syscall.Signal) { stopSelf() }

// Handles is not known here.
func Handles(int, syscall.Signal) bool { return false }

// notDumpable has nothing to do: the core limit is enough.
func notDumpable() {}
