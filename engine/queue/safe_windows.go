package queue

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// noFollow has no equal here: to make a symbolic link takes a privilege.
const noFollow = 0

// syncDir has nothing to do: NTFS logs names itself.
func syncDir(string) error { return nil }

// tryLock reports whether the lock was free. It is this process's alone: a command
// does not inherit it, and ends with the program.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}
