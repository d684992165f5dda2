//go:build unix

package proc

// This file's subject is how many files may be open.

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// filesMin is how many open files every mode gets by with: the three standard
// streams, a pipe or a file for each, the runtime's own, and what a start needs
// for a moment.
const filesMin = 24

// filesPlenty is a limit below which those that are open already are counted,
// which takes a system call each.
const filesPlenty = 256

// EnoughFiles returns an error where fewer files may be open than are needed.
// Go's runtime answers that with its stacks when it cannot have its own.
func EnoughFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= filesPlenty {
		return nil
	}
	if limit.Cur < filesMin {
		return fmt.Errorf("the limit of open files is %d, at least %d are needed (ulimit -n)", limit.Cur, filesMin)
	}
	inherited := 0
	for fd := 3; fd < int(limit.Cur); fd++ {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			inherited++
		}
	}
	if needed := inherited + filesMin; needed > int(limit.Cur) {
		return fmt.Errorf("the limit of open files is %d, at least %d are needed since %d are open already (ulimit -n)", limit.Cur, needed, inherited)
	}
	return nil
}
