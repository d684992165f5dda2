package history

import (
	"os"

	"golang.org/x/sys/windows"
)

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
