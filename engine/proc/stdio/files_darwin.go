package stdio

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// pipe holds the fork lock, since the ends are inheritable for a moment.
func pipe(p []int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(p); err != nil {
		return err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return nil
}

// fionread is FIONREAD of sys/filio.h: _IOR('f', 127, int).
const fionread = 0x4004667f

// pollNoReader is what poll(2) reports for a pipe without a reader: POLLHUP, as
// for one without a writer.
const pollNoReader = unix.POLLERR | unix.POLLHUP

// widen has nothing to set here.
func widen(int) {}

func openUnnamed(dir string) (int, error) { return openRemoved(dir) }

// openMemory has no counterpart here.
func openMemory() (int, error) { return -1, unix.ENOSYS }

// copyInKernel has none either: sendfile sends to sockets only.
func copyInKernel(int, int, *int64) (done bool, err error) { return false, nil }

// reopen has no counterpart: /dev/fd shares the position.
func reopen() (File, error) { return -1, unix.ENOSYS }
