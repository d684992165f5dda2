package proc

// This file holds what Linux alone offers for held output.

import (
	"strconv"

	"golang.org/x/sys/unix"
)

const fionread = unix.TIOCINQ

// pollNoReader is what poll(2) says of a pipe that nobody reads.
const pollNoReader = unix.POLLERR

func pipe(p []int) error { return unix.Pipe2(p, unix.O_CLOEXEC) }

// pipeSize is what a captured pipe may hold. 1 MiB, the most that a user without
// privileges is given, is no faster, and 64 of these are all that the user may
// have before every further pipe shrinks to a page (pipe(7), pipe-user-pages-soft).
const pipeSize = 256 << 10

// widen makes a pipe hold more, so that the command and the pump take turns
// less often. A user who has used up the allowance keeps the size that it has.
func widen(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) }

// openUnnamed opens a file that never had a name, where the file system knows
// how (open(2), O_TMPFILE), and where it can be opened again without one.
func openUnnamed(dir string) (file, again int, err error) {
	file, err = unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_APPEND|unix.O_CLOEXEC, 0o600)
	if err == unix.EOPNOTSUPP || err == unix.EISDIR {
		return openRemoved(dir)
	}
	if err != nil {
		return -1, -1, err
	}
	if again, err = openForAppending(ownName(file)); err == nil {
		return file, again, nil
	}
	_ = unix.Close(file)
	return openRemoved(dir)
}

// ownName is a name under which a file that has none can be opened (proc(5)).
func ownName(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func openMemory() (file, again int, err error) {
	file, err = unix.MemfdCreate("retry", unix.MFD_CLOEXEC)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(file), unix.F_SETFL, unix.O_APPEND)
	}
	again = -1
	if err == nil {
		if fd, err := openForAppending(ownName(file)); err == nil {
			again = fd
		}
	}
	return file, again, err
}

// kernelChunk is how much one call moves at most; the kernel's own limit is
// just under 2 GiB (sendfile(2)).
const kernelChunk = 1 << 30

// copyInKernel moves file to dst from offset on and reports whether that was
// all; if not, the rest from offset is left to be read and written.
func copyInKernel(dst, file int, offset *int64) (done bool, err error) {
	for {
		n, err := unix.Sendfile(dst, file, offset, kernelChunk)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			_ = poll(-1, pollFd(dst, unix.POLLOUT))
		case err == unix.EINVAL, err == unix.ENOSYS: // a terminal, or a file open for appending
			return false, nil
		case err != nil:
			return true, err
		case n == 0:
			return true, nil
		}
	}
}
