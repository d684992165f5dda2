//go:build unix

package stdio

// This file has the descriptors of Unix. Go's own files would end the program by SIGPIPE
// if standard output has no reader, and become non-blocking if they can.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// File is a descriptor.
type File int

// noFile is a File that nothing is written to.
const noFile File = -1

func standard(fd int) File { return File(fd) }

// open opens a file for the program alone; a terminal does not become its own.
func open(name string, flags int) (File, error) {
	fd, err := unix.Open(name, flags|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	return File(fd), err
}

func closeFile(f File) { _ = unix.Close(int(f)) }

func newPipe() (read, write File, err error) {
	var p [2]int
	if err := pipe(p[:]); err != nil {
		return noFile, noFile, fmt.Errorf("cannot make a pipe: %w", err)
	}
	return File(p[0]), File(p[1]), nil
}

// readWaits says that a pump waits in its read.
const readWaits = false

// unblock makes the program's end of a pipe non-blocking; the command's end blocks.
func unblock(f File) { _ = unix.SetNonblock(int(f), true) }

// Read reads once; errAgain if there is nothing yet. EIO is the end of a terminal.
func (f File) Read(b []byte) (int, error) { return readResult(unix.Read(int(f), b)) }

func readResult(n int, err error) (int, error) {
	switch {
	case err == unix.EINTR, err == unix.EAGAIN:
		return 0, errAgain
	case err == unix.EIO, err == nil && n == 0:
		return 0, io.EOF
	}
	return max(n, 0), err
}

// ReadAt may return less than len(b).
func (f File) ReadAt(b []byte, offset int64) (int, error) {
	for {
		n, err := unix.Pread(int(f), b, offset)
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// Write writes b. Another process may have made a shared descriptor non-blocking.
func (f File) Write(b []byte) (int, error) { return len(b), writeUntil(f, b, noFile) }

// writeUntil is Write, which ends with EPIPE when stop can be read.
func writeUntil(f File, b []byte, stop File) error {
	for len(b) > 0 {
		n, err := unix.Write(int(f), b)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if poll(-1, pollFd(f, unix.POLLOUT), pollFd(stop, unix.POLLIN))[1].Revents != 0 {
				return unix.EPIPE
			}
		case err != nil:
			return err
		default:
			b = b[n:]
		}
	}
	return nil
}

// readerOf reports whether a write to f waits for a reader, and whether f is a pipe.
func readerOf(f File) (waits, pipe bool) {
	var st unix.Stat_t
	if unix.Fstat(int(f), &st) != nil {
		return false, false
	}
	kind := st.Mode & unix.S_IFMT
	pipe = kind == unix.S_IFIFO
	return pipe || kind == unix.S_IFSOCK || isTerminal(f), pipe
}

// isGone reports whether a write failed without a reader.
func isGone(err error) bool { return errors.Is(err, unix.EPIPE) }

// pending returns how many bytes a pipe holds, 0 if that is not known.
func pending(f File) int {
	n, err := unix.IoctlGetInt(int(f), fionread)
	if err != nil {
		return 0
	}
	return n
}

// pollFd is for poll(2), which ignores noFile.
func pollFd(fd File, events int16) unix.PollFd { return unix.PollFd{Fd: int32(fd), Events: events} }

// poll waits for one of fds, for ms milliseconds or without limit (-1).
func poll(ms int, fds ...unix.PollFd) []unix.PollFd {
	for {
		if _, err := unix.Poll(fds, ms); err != unix.EINTR {
			return fds
		}
	}
}

// awaitReadable blocks until there may be something to read, or until over is called, or,
// if it has been, until Drain has passed.
func awaitReadable(f File, over *wake) {
	if isClosed(over.called) {
		rest := max(0, Drain-time.Since(over.at))
		_ = poll(int(rest/time.Millisecond)+1, pollFd(f, unix.POLLIN))
		return
	}
	_ = poll(-1, pollFd(f, unix.POLLIN), pollFd(over.read, unix.POLLIN))
}

// NoReader reports whether standard output is a pipe or socket without a reader.
func NoReader() bool { return poll(0, pollFd(1, 0))[0].Revents&pollNoReader != 0 }

// watchOrphans does nothing: the pump itself polls.
func (*Pump) watchOrphans() {}

// wakeable is a pipe: closing its writing end wakes all that poll it.
type wakeable struct{ read, write File }

func (w *wakeable) open() (err error) {
	w.read, w.write, err = newPipe()
	return err
}

func (w *wakeable) call() { closeFile(w.write) }

func (w *wakeable) close() { closeFile(w.read) }

// Seek is lseek(2).
func (f File) Seek(offset int64, whence int) (int64, error) { return unix.Seek(int(f), offset, whence) }

func openNull() (File, error) { return open(os.DevNull, unix.O_RDONLY) }

// awaitInput blocks until the input can be read, without making it non-blocking for the
// processes that share it. It returns false if the command has ended or closed its input.
func (f *feeder) awaitInput() bool {
	fds := poll(-1, pollFd(0, unix.POLLIN), pollFd(f.over.read, unix.POLLIN), pollFd(f.dst, 0))
	return fds[1].Revents == 0 && fds[2].Revents&pollNoReader == 0
}

// write writes b to the command.
func (f *feeder) write(b []byte) error { return writeUntil(f.dst, b, f.over.read) }

// openSpool opens a file without a name in the directory for temporary files.
func openSpool() (File, error) {
	dir := os.TempDir()
	fd, err := openUnnamed(dir)
	if err == nil {
		return File(fd), nil
	}
	if os.Getenv("TMPDIR") == "" && errors.Is(err, unix.ENOENT) {
		if fd, err := openMemory(); err == nil { // a container image without /tmp
			return File(fd), nil
		}
	}
	return noFile, fmt.Errorf("no temporary file in %q: %w; set TMPDIR to another directory", dir, err)
}

// openRemoved opens a file and removes its name at once.
func openRemoved(dir string) (int, error) {
	f, err := os.CreateTemp(dir, "retry-*")
	if err != nil {
		return -1, errors.Unwrap(err)
	}
	defer func() { _ = f.Close() }()
	if err := os.Remove(f.Name()); err != nil {
		return -1, err
	}
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
}

func sizeOf(f File) int64 {
	var stat unix.Stat_t
	if unix.Fstat(int(f), &stat) != nil {
		return 0
	}
	return stat.Size
}
