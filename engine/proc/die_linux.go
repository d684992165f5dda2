package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// unblock lets sig through to the calling thread.
func unblock(sig syscall.Signal) { setMask(maskUnblock, 1<<(uint(sig)-1)) }

// notDumpable keeps the kernel from dumping core even where a pipe handler
// takes it whatever the limit (core(5)).
func notDumpable() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// release takes back what an exec would hand on: orphans are init's again.
func (f *family) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.adopts {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
		f.adopts = false
	}
}
