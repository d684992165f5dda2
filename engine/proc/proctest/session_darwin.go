package proctest

import "syscall"

func leader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// masked is false: nothing here shows the mask.
func masked() bool { return false }

func unmask() {}
