//go:build unix

package queue

import (
	"os"
	"syscall"
)

// noFollow opens no symbolic link, and waits for no FIFO.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// syncDir writes the names in a directory to the disk.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close()
	return err
}

// tryLock reports whether the lock was free. It belongs to the open file
// description, so that a command which inherits the descriptor holds it too
// (flock(2)).
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
