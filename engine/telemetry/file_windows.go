package telemetry

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const withoutFollowing = windows.O_FILE_FLAG_OPEN_REPARSE_POINT

// lockName is the file that is locked. It lies beside, since a file that is open
// cannot be replaced.
func lockName(name string) string { return name + ".lock" }

// tryLock locks the file, unless another process has.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
