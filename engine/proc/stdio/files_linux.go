package stdio

// This file has calls that only Linux has.

import (
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	fionread               = unix.TIOCINQ
	getTermios, setTermios = unix.TCGETS, unix.TCSETS

	// pollNoReader is what poll(2) reports for a pipe without a reader.
	pollNoReader = unix.POLLERR
)

func pipe(p []int) error { return unix.Pipe2(p, unix.O_CLOEXEC) }

// pipeSize is what a captured pipe may hold. 1 MiB, the most without privileges, is no
// faster, and with 64 of these a user's further pipes shrink to a page (pipe(7),
// pipe-user-pages-soft).
const pipeSize = 256 << 10

// enlargePipe makes a pipe hold more, for fewer switches between command and pump. If the user's
// limit is reached, the size stays.
func enlargePipe(f File) { _, _ = unix.FcntlInt(uintptr(f), unix.F_SETPIPE_SZ, pipeSize) }

// openUnnamed opens a file that never had a name, if the file system can (open(2),
// O_TMPFILE).
func openUnnamed(dir string) (int, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == unix.EOPNOTSUPP || err == unix.EISDIR {
		return openRemoved(dir)
	}
	return fd, err
}

func openMemory() (int, error) { return unix.MemfdCreate("retry", unix.MFD_CLOEXEC) }

// copyInKernel copies file to dst, and reports whether that was all. written is what has
// been copied.
func copyInKernel(dst, file File, written *atomic.Int64) (done bool, err error) {
	for pieces := piecesFor(dst); ; {
		offset := written.Load()
		n, err := unix.Sendfile(int(dst), int(file), &offset, pieces.next())
		written.Store(offset)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			_ = poll(-1, pollFd(dst, unix.POLLOUT))
		case err == unix.EINVAL, err == unix.ENOSYS: // dst is a terminal, or appends
			return false, nil
		case err != nil, n == 0:
			return true, err
		}
	}
}

// reopen opens the file that is standard input again.
func reopen() (File, error) { return open("/proc/self/fd/0", unix.O_RDONLY) }

// OpenPty opens both ends of a pseudo-terminal (pts(4)).
func OpenPty() (master, slave File, err error) {
	if master, err = open("/dev/ptmx", unix.O_RDWR); err != nil {
		return noFile, noFile, err
	}
	n, err := unix.IoctlGetInt(int(master), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = open("/dev/pts/"+strconv.Itoa(n), unix.O_RDWR)
	}
	if err != nil {
		closeFile(master)
	}
	return master, slave, err
}
