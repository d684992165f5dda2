//go:build unix

package cli

// This file is what a process inherits: its umask, and the pipe for a letter's result.

import (
	"os"
	"syscall"
)

func umask() int {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return mask
}

func setUmask(mask int) { syscall.Umask(mask) }

// handDown gives a process to be started a pipe, and returns its number there.
func handDown(attr *os.ProcAttr, pipe *os.File) uintptr {
	attr.Files = append(attr.Files, pipe)
	return uintptr(len(attr.Files) - 1)
}

// handedDown is the pipe in the process that was started. No other gets it.
func handedDown(number uintptr) *os.File {
	syscall.CloseOnExec(int(number))
	return os.NewFile(number, "result")
}
