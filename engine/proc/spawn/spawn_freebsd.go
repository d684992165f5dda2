package spawn

import "syscall"

// sysProcAttr asks the kernel to kill the command when the program dies
// (procctl(2), PROC_PDEATHSIG_CTL).
func sysProcAttr(ownGroup bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: ownGroup, Pdeathsig: syscall.SIGKILL}
}
