package signals

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// raise sends sig to the calling thread.
func raise(sig syscall.Signal) { _ = unix.Tgkill(unix.Getpid(), unix.Gettid(), sig) }

// notDumpable keeps the kernel from dumping core even where a pipe handler
// takes it whatever the limit (core(5)).
func notDumpable() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// handlerLimit is how long awaitHandlers waits at most.
const handlerLimit = 100 * time.Millisecond

// awaitHandlers waits until no signal that asks for the end is on its way to a
// handler, and no other thread is in one.
func awaitHandlers() {
	for end := time.Now().Add(handlerLimit); handling() && time.Now().Before(end); {
		time.Sleep(50 * time.Microsecond)
	}
}

// leaveHandlers is awaitHandlers for before an exec, which ends the other
// threads wherever they are, and a signal with them that one has taken and not
// yet queued. A look at the masks cannot see a thread for which the kernel prepares
// the handler: the signal is pending no more, and nothing is blocked yet. So every
// thread is met after the look, which takes too long for each attempt.
func leaveHandlers() {
	awaitHandlers()
	end := time.Now().Add(handlerLimit)
	for _, thread := range threads() {
		meet(thread, end)
	}
}

// threads returns all threads but the calling one.
func threads() (others []int) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		time.Sleep(time.Millisecond)
	}
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil && id != syscall.Gettid() {
			others = append(others, id)
		}
	}
	return others
}

// handling reports whether a signal waits for a thread to take it, or another
// thread handles one: Go's handlers block all signals, while its threads never
// block SEGV otherwise.
func handling() bool {
	const ending = 1<<(syscall.SIGINT-1) | 1<<(syscall.SIGQUIT-1) | 1<<(syscall.SIGTERM-1) | 1<<(syscall.SIGHUP-1)
	for _, thread := range threads() {
		status, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/status")
		if err != nil {
			continue // the thread has ended
		}
		if signalMask(status, "SigBlk:\t")&(1<<(syscall.SIGSEGV-1)) != 0 || signalMask(status, "ShdPnd:\t")&ending != 0 {
			return true
		}
	}
	return false
}

// Handles reports whether a process has a handler for sig.
func Handles(pid int, sig syscall.Signal) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return err == nil && signalMask(status, "SigCgt:\t")&(1<<(sig-1)) != 0
}

// signalMask reads one line of a status file (proc(5)), 0 where it is not there.
func signalMask(status []byte, name string) uint64 {
	_, rest, _ := bytes.Cut(status, []byte(name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, _ := strconv.ParseUint(string(line), 16, 64)
	return mask
}
