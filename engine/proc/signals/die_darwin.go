package signals

import (
	"syscall"
	"unsafe"
)

// unblock lets sig through to the calling thread.
func unblock(sig syscall.Signal) {
	const sigUnblock = 2 // SIG_UNBLOCK of sys/signal.h
	mask := uint32(1) << (uint(sig) - 1)
	_, _, _ = syscall.RawSyscall(syscall.SYS___PTHREAD_SIGMASK, sigUnblock, uintptr(unsafe.Pointer(&mask)), 0)
}
