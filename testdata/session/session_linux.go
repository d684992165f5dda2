package session

import (
	"bytes"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const firstRole = supervisor

// leader makes a process lead a session, and the tests end when the supervisor is killed
// (prctl(2), PR_SET_PDEATHSIG).
func leader(role string) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if role == theTests {
		attr.Pdeathsig = syscall.SIGKILL
	}
	return attr
}

// unmask blocks no signal of the calling thread; a child inherits its mask.
func unmask() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil) }

// pipeFromParent is at its end when the process that was started has ended.
const pipeFromParent = 3

// supervise runs the tests, returns their code, and ends what they leave: a process that
// loses its parent becomes a child of this one (prctl(2), PR_SET_CHILD_SUBREAPER),
// whatever its session. It is in a session of its own, so that what kills the group of
// the process that was started does not kill it.
func supervise() (int, error) {
	runtime.LockOSThread() // the parent-death signal is a thread's
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 1, err
	}
	asked := catchEnding()
	cmd, err := again(theTests)
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	tests := cmd.Process.Pid
	go passOn(asked, tests)
	go func() {
		_, _ = os.NewFile(pipeFromParent, "parent").Read(make([]byte, 1))
		_ = syscall.Kill(tests, syscall.SIGKILL)
	}()
	var how syscall.WaitStatus
	for ended := 0; ended != tests; {
		if ended, err = syscall.Wait4(-1, &how, 0, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return 1, err
		}
	}
	return shown(how), endChildren()
}

// endLimit bounds the wait for what has been killed: only a process in a system call that
// does not end takes as long.
const endLimit = 2 * time.Minute

// endChildren kills the children of this process until there is none. The children of
// each become its own.
func endChildren() error {
	for end := time.Now().Add(endLimit); ; time.Sleep(time.Millisecond) {
		for _, pid := range children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for ended := 1; ended > 0; {
			var err error
			if ended, err = syscall.Wait4(-1, nil, syscall.WNOHANG, nil); errors.Is(err, syscall.ECHILD) {
				return nil
			}
		}
		if time.Now().After(end) {
			return errors.New("a process that the tests have left cannot be ended")
		}
	}
}

// children are the processes whose parent is this one: the fourth field of proc_pid_stat(5),
// behind the name, which may hold anything.
func children() (pids []int) {
	for pid, dir := range Processes() {
		stat, _ := os.ReadFile(dir + "/stat")
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) >= 2 && string(fields[1]) == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Processes are all processes, each with its directory in /proc.
func Processes() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		dirs, _ := filepath.Glob("/proc/[0-9]*") // with a name behind it Glob reads each of them
		for _, dir := range dirs {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err == nil && !yield(pid, dir) {
				return
			}
		}
	}
}
