//go:build unix

package proc

// This file keeps what an attempt writes until the attempt has been judged, in
// a file without a name, so that memory stays small and nothing is left behind
// however the program ends.

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
)

// held is one held output.
type held struct {
	file int
	dst  int // where it belongs: 1 or 2
}

func newHeld(dst int) (*held, error) {
	file, err := openSpool()
	if err != nil {
		return nil, fmt.Errorf("holding %s: %w", outputNames[dst], err)
	}
	return &held{file: file, dst: dst}, nil
}

// openSpool opens a file without a name in the directory for temporary files,
// open for reading and appending: two processes that write to it do not write
// over one another.
func openSpool() (int, error) {
	dir := os.TempDir()
	fd, err := openUnnamed(dir)
	if err == nil {
		return fd, nil
	}
	if os.Getenv("TMPDIR") == "" && errors.Is(err, unix.ENOENT) {
		if fd, err := openMemory(); err == nil { // a container image without /tmp
			return fd, nil
		}
	}
	return -1, fmt.Errorf("no temporary file in %q: %w; set TMPDIR to another directory", dir, err)
}

// openRemoved opens a file and takes its name away at once.
func openRemoved(dir string) (int, error) {
	f, err := os.CreateTemp(dir, "retry-*")
	if err != nil {
		return -1, errors.Unwrap(err)
	}
	defer func() { _ = f.Close() }()
	if err := os.Remove(f.Name()); err != nil {
		return -1, err
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1, err
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, (flags|unix.O_APPEND)&^unix.O_NONBLOCK)
	}
	return fd, err
}

// drop forgets the output.
func (h *held) drop() { _ = unix.Close(h.file) }

// release writes the output to where it belongs, or to standard error where
// the attempt was rejected.
func (h *held) release(accepted bool) error {
	defer h.drop()
	dst := h.dst
	if !accepted {
		dst = 2
	}
	err := copyOut(dst, h.file)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EPIPE) && dst == 1:
		return attempt.ErrReaderGone
	case errors.Is(err, unix.EPIPE): // nobody is left to be told
		return nil
	}
	return fmt.Errorf("writing %s: %w", outputNames[dst], err)
}

// copyOut writes all of file to dst, in the kernel where it can.
func copyOut(dst, file int) error {
	var offset int64
	if done, err := copyInKernel(dst, file, &offset); done {
		return err
	}
	buf := make([]byte, pumpBuffer)
	for {
		n, err := unix.Pread(file, buf, offset)
		if err == unix.EINTR {
			continue
		}
		if err != nil && err != io.EOF || n <= 0 {
			return err
		}
		if err := writeAll(dst, buf[:n]); err != nil {
			return err
		}
		offset += int64(n)
	}
}
