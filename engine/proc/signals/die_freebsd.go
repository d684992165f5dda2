package signals

import (
	"syscall"
	"unsafe"
)

// unblock lets sig through to the calling thread, which is whose mask the
// system call changes: Go's own runtime uses it in the same way.
func unblock(sig syscall.Signal) {
	const sigUnblock = 2 // SIG_UNBLOCK of sys/signal.h
	var mask [4]uint32   // sigset_t of sys/_sigset.h
	mask[(sig-1)/32] = 1 << (uint(sig-1) % 32)
	_, _, _ = syscall.RawSyscall(syscall.SYS_SIGPROCMASK, sigUnblock, uintptr(unsafe.Pointer(&mask)), 0)
}
