package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unblock lets sig through to the calling thread.
func unblock(sig syscall.Signal) { setMask(maskUnblock, 1<<(uint(sig)-1)) }

// raise sends sig to the calling thread.
func raise(sig syscall.Signal) { _ = unix.Tgkill(unix.Getpid(), unix.Gettid(), sig) }

// notDumpable keeps the kernel from dumping core even where a pipe handler
// takes it whatever the limit (core(5)).
func notDumpable() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// handlerLimit is how long awaitHandlers waits at most.
const handlerLimit = 100 * time.Millisecond

// awaitHandlers waits until no other thread is in a signal handler. An exec
// ends the other threads wherever they are, and a signal with them that one has
// taken and not yet queued.
func awaitHandlers() {
	for end := time.Now().Add(handlerLimit); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		if !handling() {
			return
		}
	}
}

// handling reports whether another thread handles a signal: Go's handlers block
// all signals, while its threads never block SEGV otherwise.
func handling() bool {
	const tasks = "/proc/self/task/"
	entries, err := os.ReadDir(tasks)
	if err != nil {
		time.Sleep(time.Millisecond)
		return false
	}
	self := strconv.Itoa(syscall.Gettid())
	for _, e := range entries {
		if e.Name() == self {
			continue
		}
		status, err := os.ReadFile(tasks + e.Name() + "/status")
		if err != nil {
			continue // the thread has ended
		}
		_, rest, _ := bytes.Cut(status, []byte("SigBlk:\t"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		mask, err := strconv.ParseUint(string(line), 16, 64)
		if err == nil && mask&(1<<(syscall.SIGSEGV-1)) != 0 {
			return true
		}
	}
	return false
}
