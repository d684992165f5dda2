package spawn

import "syscall"

// sysProcAttr asks the kernel to kill the command when this thread dies, which
// is when the program does (Run).
func sysProcAttr(ownGroup bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: ownGroup, Pdeathsig: syscall.SIGKILL}
}
