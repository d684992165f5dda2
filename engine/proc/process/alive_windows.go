package process

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Alive reports whether a process lives.
func Alive(pid int) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED) // it is another user's
	}
	defer func() { _ = windows.CloseHandle(process) }()
	state, err := windows.WaitForSingleObject(process, 0)
	return err != nil || state != windows.WAIT_OBJECT_0
}
