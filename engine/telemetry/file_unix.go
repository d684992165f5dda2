//go:build unix

package telemetry

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// withoutFollowing are flags of open: no symbolic link is followed, and a FIFO
// is not waited for.
const withoutFollowing = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// lockName is the file that is locked: the metrics themselves.
func lockName(name string) string { return name }

// tryLock locks the file, unless another process has.
func tryLock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}
