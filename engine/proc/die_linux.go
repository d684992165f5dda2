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

// awaitHandlers waits until no signal that asks for the end is on its way to a
// handler, and no other thread is in one. An exec ends the other threads
// wherever they are, and a signal with them that one has taken and not yet
// queued.
func awaitHandlers() {
	for end := time.Now().Add(handlerLimit); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		if !handling() {
			return
		}
	}
}

// handling reports whether a signal waits for a thread to take it, or another
// thread handles one: Go's handlers block all signals, while its threads never
// block SEGV otherwise.
func handling() bool {
	const ending = 1<<(syscall.SIGINT-1) | 1<<(syscall.SIGQUIT-1) | 1<<(syscall.SIGTERM-1) | 1<<(syscall.SIGHUP-1)
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
		if signalMask(status, "SigBlk:\t")&(1<<(syscall.SIGSEGV-1)) != 0 || signalMask(status, "ShdPnd:\t")&ending != 0 {
			return true
		}
	}
	return false
}

// signalMask reads one line of a status file (proc(5)), 0 where it is not there.
func signalMask(status []byte, name string) uint64 {
	_, rest, _ := bytes.Cut(status, []byte(name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, _ := strconv.ParseUint(string(line), 16, 64)
	return mask
}
