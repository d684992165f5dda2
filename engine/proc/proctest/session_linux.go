package proctest

import (
	"os"
	"regexp"
	"syscall"

	"golang.org/x/sys/unix"
)

// leader makes the tests lead a session, and end when the process that waits
// for them is killed (prctl(2), PR_SET_PDEATHSIG).
func leader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// some matches a set of signals that is not empty (proc(5), status).
var some = regexp.MustCompile(`(?m)^Sig(Blk|Ign):\t0*[1-9a-f]`)

// masked reports whether a signal was blocked or ignored at the start. What
// the runtime handles says nothing of its disposition before.
func masked() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err == nil && some.Match(status)
}

// unmask blocks no signal of the calling thread; a child inherits its mask.
func unmask() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil) }
