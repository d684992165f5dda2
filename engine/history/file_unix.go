//go:build unix

package history

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// withoutWaiting opens a FIFO without waiting for its other side.
const withoutWaiting = syscall.O_NONBLOCK

// foreign refuses a directory of another user. One of root's may be written by
// all, such as /tmp.
func foreign(dir string, info fs.FileInfo) error {
	owner, user := info.Sys().(*syscall.Stat_t).Uid, uint32(os.Geteuid())
	if owner == user || owner == 0 {
		return nil
	}
	return fmt.Errorf("%q belongs to user %d and not to user %d; nothing is made there; --history FILE names another file", dir, owner, user)
}

// rename renames the open file, and reports whether it did.
func rename(_ *os.File, from, to string) bool { return os.Rename(from, to) == nil }

// tryLock reports whether the lock was free.
func tryLock(f *os.File) (bool, error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case nil:
			return true, nil
		case syscall.EWOULDBLOCK:
			return false, nil
		case syscall.EINTR:
		default:
			return false, os.NewSyscallError("flock", err)
		}
	}
}

func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
