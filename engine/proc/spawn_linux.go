package proc

import "syscall"

// sysProcAttr asks the kernel to kill the command when this thread dies, which
// is why a run has to call from a thread that lives as long as the program.
func sysProcAttr(ownGroup bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: ownGroup, Pdeathsig: syscall.SIGKILL}
}
