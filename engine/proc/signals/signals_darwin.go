package signals

// This file holds what macOS alone knows about signals.

import (
	"os"
	"syscall"
	"unsafe"
)

// There are no real-time signals on macOS.
const (
	realTimeMin = 0
	realTimeMax = 0
)

// Forwarded are the signals, beyond those that ask for the end, that are passed
// on to a command in a process group of its own. Those that stop a program come
// last: when they are caught, all are.
func Forwarded() []syscall.Signal {
	return append(append([]syscall.Signal(nil), earlySignals...), syscall.SIGABRT, syscall.SIGCONT, syscall.SIGVTALRM, syscall.SIGIO, syscall.SIGXCPU,
		syscall.SIGINFO, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGTSTP)
}

// earlySignals are meant for the command, and may reach the program as soon as
// the command has said that it handles them.
var earlySignals = []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH}

// coreSignals are passed on while a command runs and end the program otherwise.
var coreSignals = []syscall.Signal{syscall.SIGABRT}

// strayFaults are sent to the program as any other signal may be, by kill(1) say,
// and look to Go's runtime as a fault of the program's own, which it answers by
// printing its stacks until they are asked for. What the runtime itself has raised
// it keeps.
var strayFaults = []os.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE}

// meeting is not sent here.
const meeting = syscall.Signal(0)

// rawAction is larger than the kernel's struct __sigaction, which begins
// with the handler; all zeros is the default action without flags.
type rawAction [8]uintptr

// ignoredNow asks the kernel whether sig is ignored.
func ignoredNow(sig syscall.Signal) bool {
	const ignore = 1 // SIG_IGN
	var old rawAction
	_, _, errno := syscall.RawSyscall(syscall.SYS_SIGACTION, uintptr(sig), 0, uintptr(unsafe.Pointer(&old)))
	return errno == 0 && old[0] == ignore
}

// setDefault gives sig its default action behind the back of Go's runtime.
func setDefault(sig syscall.Signal) {
	var action rawAction
	_, _, _ = syscall.RawSyscall(syscall.SYS_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0)
}

// restoreAction has nothing to restore: Go's actions stay in place here.
func restoreAction(syscall.Signal) {}

// stopAsUncaught stops the program: what it would read of Go's action here is not
// what could be put back.
func (s *Signals) stopAsUncaught(syscall.Signal) { StopSelf(sigStop) }
