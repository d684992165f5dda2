//go:build amd64 || arm64

package proc

// This file notes signals in a handler of its own, below Go's runtime, which
// cannot catch one without starting threads: the handler sets a word and
// returns. That is enough as long as nobody waits for the signal.

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const canNote = true

// noted has 1 for each signal that came while it was noted.
var noted [65]uint32

// former are the actions that startNoting replaced: those of Go's runtime.
var former [65]rawAction

// noteSignalAddress is where the handler is, as the kernel calls it.
func noteSignalAddress() uintptr

// endHandlerAddress is where a handler returns to, 0 for the kernel's own code.
func endHandlerAddress() uintptr

// startNoting makes sig set its word instead of ending the program.
func startNoting(sig syscall.Signal) {
	const (
		onStack  = 0x08000000 // SA_ONSTACK: a goroutine's stack may be too small
		restart  = 0x10000000 // SA_RESTART
		restorer = 0x04000000 // SA_RESTORER: x86 calls no handler without one
	)
	// The kernel's sigaction: handler, flags, restorer, and the mask,
	// by which handling knows a thread that is in it.
	action := rawAction{noteSignalAddress(), onStack | restart, endHandlerAddress(), ^uintptr(0)}
	if action[2] != 0 {
		action[1] |= restorer
	}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), uintptr(unsafe.Pointer(&former[sig])), sigsetSize, 0, 0)
}

// stopNoting gives sig back to Go's runtime. A handler that runs on another
// thread at this moment still notes its signal.
func stopNoting(sig syscall.Signal) {
	if former[sig] == (rawAction{}) {
		return
	}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&former[sig])), 0, sigsetSize, 0, 0)
}

// handles reports whether a process has a handler for sig.
func handles(pid int, sig syscall.Signal) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return err == nil && signalMask(status, "SigCgt:\t")&(1<<(sig-1)) != 0
}

func isNoted(sig syscall.Signal) bool { return atomic.LoadUint32(&noted[sig]) != 0 }

// takeNoted reports whether sig is noted, and forgets it.
func takeNoted(sig syscall.Signal) bool { return atomic.SwapUint32(&noted[sig], 0) != 0 }

// meeting is a signal that no kernel sends, and that Go's threads never block.
const meeting = syscall.SIGSTKFLT

// noteMeetings has the handler in place for good: a signal that is taken late
// must not find Go's, which would print every stack.
var noteMeetings = sync.OnceFunc(func() { startNoting(meeting) })

// meet returns when another thread has run a handler, and so has left every one
// that it was in or on the way to, or at the end.
func meet(thread int, end time.Time) {
	noteMeetings()
	takeNoted(meeting)
	err := unix.Tgkill(unix.Getpid(), thread, meeting)
	for looks := 0; err == nil && !isNoted(meeting) && time.Now().Before(end); looks++ {
		if looks < 500 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
			continue
		}
		time.Sleep(20 * time.Microsecond)
		err = unix.Tgkill(unix.Getpid(), thread, 0) // it may have ended
	}
}
