package stdio

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// pipe holds the fork lock, since the ends are inheritable for a moment.
func pipe(p []int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(p); err != nil {
		return err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return nil
}
