package session

import (
	"errors"
	"syscall"
)

// firstRole: a process cannot be made the parent of orphans here.
const firstRole = theTests

func leader(string) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// unmask does nothing: the mask is left as it is here.
func unmask() {}

func supervise() (int, error) { return 1, errors.New("there are no supervisors here") }
