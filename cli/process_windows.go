package cli

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Windows has no umask.
func umask() int   { return 0o022 }
func setUmask(int) {}

// handDown gives a process to be started a pipe, and returns its handle there.
func handDown(attr *os.ProcAttr, pipe *os.File) uintptr {
	h := pipe.Fd()
	_ = windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT)
	attr.Sys = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(h)}}
	return h
}

// handedDown is the pipe in the process that was started. No other gets it.
func handedDown(number uintptr) *os.File {
	_ = windows.SetHandleInformation(windows.Handle(number), windows.HANDLE_FLAG_INHERIT, 0)
	return os.NewFile(number, "result")
}
