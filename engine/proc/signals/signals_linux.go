package signals

// This file holds what Linux alone knows about signals.

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The real-time signals as the C libraries count them (signal(7)): 32 and 33
// are taken by the thread library. Go cannot catch 34.
const (
	realTimeMin = 34
	realTimeMax = 64
)

// earlySignals are meant for the command, and may reach the program as soon as
// the command has said that it handles them.
var earlySignals = []syscall.Signal{
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH,
	syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGSTKFLT,
}

// laterSignals are passed on once a command has run for ForwardingDelay.
var laterSignals = []syscall.Signal{syscall.SIGCONT, syscall.SIGVTALRM, syscall.SIGIO, syscall.SIGPWR, syscall.SIGXCPU}

// coreSignals are passed on while a command runs and end the program otherwise:
// systemd's watchdog sends ABRT. Go's runtime answers them by printing its
// stacks until they are caught.
var coreSignals = []syscall.Signal{syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGSTKFLT}

// strayFaults, sent by kill(1) say, look to Go's runtime as faults of the program's
// own, which it answers by printing its stacks until they are caught. Those that it
// has raised itself it keeps: code may recover from them, as package fmt does.
var strayFaults = []os.Signal{syscall.SIGSEGV, syscall.SIGBUS}

// rawAction is large enough for the kernel's sigaction on every architecture.
// All zeros is the default action without flags.
type rawAction [32]uintptr

// sigaction is rt_sigaction(2), of which Go's runtime knows nothing; either action
// may be nil.
func sigaction(sig syscall.Signal, action, old *rawAction) syscall.Errno {
	const sigsetSize = 8 // in bytes, on all architectures but MIPS
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(action)),
		uintptr(unsafe.Pointer(old)), sigsetSize, 0, 0)
	return errno
}

// unblock empties the calling thread's mask.
func unblock() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil) }

// WithoutTTOU calls f on a thread on which TTOU is blocked: the kernel sends it to a process
// out of the foreground that sets the foreground group (tcsetpgrp(3)).
func WithoutTTOU(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const bit = syscall.SIGTTOU - 1
	var blocked, before unix.Sigset_t
	blocked.Val[0] = 1 << bit
	if unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, &before) == nil {
		f()
		_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	}
}

// raise sends sig to the calling thread.
func raise(sig syscall.Signal) { _ = unix.Tgkill(unix.Getpid(), unix.Gettid(), sig) }

// stopAsUncaught stops the program by the action that sig has without a handler:
// none if no process could continue it, as in an orphaned process group (setpgid(2)).
// The signal goes to this thread, which acts on it before it goes on.
func stopAsUncaught(sig syscall.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var caught rawAction
	if sigaction(sig, &rawAction{}, &caught) == 0 {
		raise(sig)
		sigaction(sig, &caught, nil)
	}
}

// notDumpable keeps the kernel from dumping core even if a pipe handler
// takes it whatever the limit (core(5)).
func notDumpable() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// Handles reports whether a process has a handler for sig.
func Handles(pid int, sig syscall.Signal) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return signalMask(status, "SigCgt:\t")&(1<<(sig-1)) != 0
}

// signalMask reads one line of a status file (proc(5)), 0 if it is not there.
func signalMask(status []byte, name string) uint64 {
	_, rest, _ := bytes.Cut(status, []byte(name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, _ := strconv.ParseUint(string(line), 16, 64)
	return mask
}
