package history

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const withoutWaiting = 0

// foreign has nothing to ask: files belong to whom their directory does.
func foreign(string, fs.FileInfo) error { return nil }

// onNetwork is left open: a file opened to append is written under the server's
// lock (SMB2 WRITE at the end of file).
func onNetwork(*os.File) bool { return false }

// rename renames the file, which has to be closed for that, so that its lock is
// gone: it never replaces a file that another run has renamed meanwhile. It reports
// true, since the file has to be opened again.
func rename(f *os.File, from, to string) bool {
	_ = f.Close()
	a, errA := windows.UTF16PtrFromString(from)
	b, errB := windows.UTF16PtrFromString(to)
	if errA == nil && errB == nil {
		_ = windows.MoveFileEx(a, b, 0)
	}
	return true
}

func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, behindAll())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, behindAll())
}

// behindAll is a place that no file reaches: a lock keeps others from what it
// covers.
func behindAll() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }
