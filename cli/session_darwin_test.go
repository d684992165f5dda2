package cli

import "syscall"

func sessionLeader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// unmask does nothing: the mask is left as it is here.
func unmask() {}
