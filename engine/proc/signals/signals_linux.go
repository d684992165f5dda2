package signals

// This file holds what Linux alone knows about signals.

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// The real-time signals as the C libraries count them (signal(7)): 32 and 33
// are taken by the thread library. Go cannot catch 34.
const (
	realTimeMin = 34
	realTimeMax = 64
)

// Forwarded are the signals, beyond those that ask for the end, that are passed
// on to a command in a process group of its own: all that Go can catch, except
// URG, CHLD and PIPE, and SEGV, BUS, ILL and FPE, which a fault raises. Those
// that stop a program come last: when they are caught, all are.
func Forwarded() []syscall.Signal {
	all := append(append([]syscall.Signal(nil), earlySignals...), syscall.SIGCONT,
		syscall.SIGVTALRM, syscall.SIGIO, syscall.SIGPWR, syscall.SIGXCPU)
	for n := realTimeMin + 1; n <= realTimeMax; n++ {
		all = append(all, syscall.Signal(n))
	}
	return append(all, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGTSTP)
}

// earlySignals are meant for the command, and may reach the program as soon as
// the command has said that it handles them.
var earlySignals = []syscall.Signal{
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH,
	syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGSTKFLT,
}

// coreSignals are passed on while a command runs and end the program otherwise:
// systemd's watchdog sends ABRT. Go's runtime answers them by printing its
// stacks until they are caught (NoStacks).
var coreSignals = []syscall.Signal{syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGSTKFLT}

// strayFaults are sent to the program as any other signal may be, by kill(1) say,
// and look to Go's runtime as a fault of the program's own, which it answers by
// printing its stacks until they are asked for. What the runtime itself has raised
// it keeps. Those of faultSignals are not the runtime's any more.
var strayFaults = []os.Signal{syscall.SIGSEGV, syscall.SIGBUS}

// meeting is a signal that no kernel sends, and that Go's threads never block.
const meeting = syscall.SIGSTKFLT

// rawAction is large enough for the kernel's sigaction on every architecture.
// All zeros is the default action without flags.
type rawAction [32]uintptr

// sigsetSize is the kernel's, in bytes, on all architectures but MIPS.
const sigsetSize = 8

// sigaction is rt_sigaction(2), behind the back of Go's runtime; either action
// may be nil.
func sigaction(sig syscall.Signal, action, old *rawAction) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(old)), sigsetSize, 0, 0)
	return errno
}

// ignoredNow asks the kernel whether sig is ignored. Go leaves the job-control
// signals alone until they are asked for, so for these it is the inherited
// state.
func ignoredNow(sig syscall.Signal) bool {
	const ignore = 1 // SIG_IGN
	var now rawAction
	return sigaction(sig, nil, &now) == 0 && now[0] == ignore
}

// setDefault gives sig its default action, which Go offers no way to do for
// QUIT and its like.
func setDefault(sig syscall.Signal) { sigaction(sig, &rawAction{}, nil) }

// unblock lets sig through to the calling thread.
func unblock(sig syscall.Signal) {
	const sigUnblock = 1 // SIG_UNBLOCK of uapi/asm-generic/signal-defs.h
	mask := uint64(1) << (uint(sig) - 1)
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigUnblock, uintptr(unsafe.Pointer(&mask)), 0, sigsetSize, 0, 0)
}

// stopAsUncaught stops the program by the action that sig has without a handler:
// none where no process could continue it, as in an orphaned process group (setpgid(2)).
// The signal goes to this thread, which acts on it before it goes on.
func (s *Signals) stopAsUncaught(sig syscall.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var caught rawAction
	if sigaction(sig, &rawAction{}, &caught) == 0 {
		raise(sig)
		sigaction(sig, &caught, nil)
	}
}
