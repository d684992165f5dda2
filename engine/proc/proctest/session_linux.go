package proctest

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// leader makes the tests lead a session, and end when the process that waits
// for them is killed (prctl(2), PR_SET_PDEATHSIG).
func leader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// unmask blocks no signal of the calling thread; a child inherits its mask.
func unmask() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil) }
