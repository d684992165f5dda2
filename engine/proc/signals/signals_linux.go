package signals

// This file holds what Linux alone knows about signals.

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/note"
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

// laterSignals are passed on once a command has run for Later.
var laterSignals = []syscall.Signal{syscall.SIGCONT, syscall.SIGVTALRM, syscall.SIGIO, syscall.SIGPWR, syscall.SIGXCPU}

// coreSignals are passed on while a command runs and end the program otherwise:
// systemd's watchdog sends ABRT. Go's runtime answers them by printing its
// stacks until they are caught (NoStacks).
var coreSignals = []syscall.Signal{syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGSTKFLT}

// strayFaults, sent by kill(1) say, look to Go's runtime as faults of the program's
// own, which it answers by printing its stacks until they are caught. Those that it
// has raised itself it keeps: code may recover from them, as package fmt does.
var strayFaults = []os.Signal{syscall.SIGSEGV, syscall.SIGBUS}

// NoStacks lets the signals that make Go's runtime print its stacks end the
// program as they end any other, QUIT and those of coreSignals after Listen or
// RestoreDispositions. Call it first of all.
func NoStacks() {
	setDefault(syscall.SIGILL) // the runtime does not need these two itself
	setDefault(syscall.SIGFPE)
	for _, sig := range append([]syscall.Signal{syscall.SIGQUIT}, coreSignals...) {
		if note.Can {
			note.Start(int(sig))
		} else {
			setDefault(sig)
		}
	}
}

// restoreAction gives a signal the action of Go's runtime, which catching it does not
// restore, and which all signals share with URG.
func restoreAction(sig syscall.Signal) {
	var runtimes rawAction
	if !note.Can && sigaction(syscall.SIGURG, nil, &runtimes) == 0 {
		sigaction(sig, &runtimes, nil)
	}
}

// rawAction is large enough for the kernel's sigaction on every architecture.
// All zeros is the default action without flags.
type rawAction [32]uintptr

// sigaction is rt_sigaction(2), of which Go's runtime knows nothing; either action
// may be nil.
func sigaction(sig syscall.Signal, action, old *rawAction) syscall.Errno {
	const sigsetSize = 8 // in bytes, on all architectures but MIPS
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(old)), sigsetSize, 0, 0)
	return errno
}

// unblock empties the calling thread's mask.
func unblock() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil) }

// raise sends sig to the calling thread.
func raise(sig syscall.Signal) { _ = unix.Tgkill(unix.Getpid(), unix.Gettid(), sig) }

// stopAsUncaught stops the program by the action that sig has without a handler:
// none where no process could continue it, as in an orphaned process group (setpgid(2)).
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

// handling reports whether a signal waits for a thread to take it, or another
// thread handles one: Go's handlers block all signals, while its threads never
// block SEGV otherwise.
func handling() bool {
	const ending = 1<<(syscall.SIGINT-1) | 1<<(syscall.SIGQUIT-1) | 1<<(syscall.SIGTERM-1) | 1<<(syscall.SIGHUP-1)
	for _, thread := range threads() {
		status, _ := os.ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/status") // nothing if it has ended
		if signalMask(status, "SigBlk:\t")&(1<<(syscall.SIGSEGV-1)) != 0 || signalMask(status, "ShdPnd:\t")&ending != 0 {
			return true
		}
	}
	return false
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

// Handles reports whether a process has a handler for sig.
func Handles(pid int, sig syscall.Signal) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return signalMask(status, "SigCgt:\t")&(1<<(sig-1)) != 0
}

// signalMask reads one line of a status file (proc(5)), 0 where it is not there.
func signalMask(status []byte, name string) uint64 {
	_, rest, _ := bytes.Cut(status, []byte(name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, _ := strconv.ParseUint(string(line), 16, 64)
	return mask
}

// meeting is a signal that no kernel sends, and that Go's threads never block.
const meeting = syscall.SIGSTKFLT

// leaveHandlers is awaitHandlers for before an exec, which ends the other threads, and
// a signal with them that one has taken and not yet queued. The masks do not show a
// thread for which the kernel prepares the handler: the signal is no longer pending, and
// nothing is blocked yet. So every thread runs a handler after the look, which takes too
// long for each attempt. Where signals cannot be noted, one may be lost.
func leaveHandlers() {
	awaitHandlers()
	if !note.Can {
		return
	}
	// The handler stays: a signal that is taken late must not find Go's, which would
	// print every stack.
	note.Start(int(meeting))
	end := time.Now().Add(handlerLimit)
	for _, thread := range threads() {
		meet(thread, end)
	}
}

// meet returns when another thread has run a handler, and so has left every one
// that it was in or on the way to, or at the end.
func meet(thread int, end time.Time) {
	note.Take(int(meeting))
	defer note.Take(int(meeting)) // it was not meant for a command
	err := unix.Tgkill(unix.Getpid(), thread, meeting)
	for looks := 0; err == nil && !note.Has(int(meeting)) && time.Now().Before(end); looks++ {
		if looks < 500 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
			continue
		}
		time.Sleep(20 * time.Microsecond)
		err = unix.Tgkill(unix.Getpid(), thread, 0) // it may have ended
	}
}
