//go:build unix

package cli

// This file is what a process hands down here: its umask, and a pipe by which a
// redriver learns what came of a letter.

import (
	"os"
	"syscall"
)

// umask returns the process's umask.
func umask() int {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return mask
}

func setUmask(mask int) { syscall.Umask(mask) }

// handDown gives a process to be started a pipe, and returns the number that it
// has there.
func handDown(attr *os.ProcAttr, pipe *os.File) uintptr {
	attr.Files = append(attr.Files, pipe)
	return uintptr(len(attr.Files) - 1)
}

// handedDown is the pipe in the process that was started. No other gets it.
func handedDown(number uintptr) *os.File {
	syscall.CloseOnExec(int(number))
	return os.NewFile(number, "result")
}
