package cli

// This file is a command for scripts that prints the attributes of a process
// that survive an exec and that no file in /proc shows.

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() { commands["attributes"] = attributesMain }

func attributesMain() {
	for _, attribute := range []struct {
		name   string
		option uintptr
	}{
		{"child subreaper", unix.PR_GET_CHILD_SUBREAPER},
		{"parent-death signal", unix.PR_GET_PDEATHSIG},
	} {
		var value int32
		_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, attribute.option, uintptr(unsafe.Pointer(&value)), 0, 0,
			0, 0)
		fmt.Println(attribute.name, value, errno)
	}
}
