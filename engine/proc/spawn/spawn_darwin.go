package spawn

import "syscall"

// sysProcAttr has no parent-death signal to ask for here.
func sysProcAttr(ownGroup bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: ownGroup}
}
