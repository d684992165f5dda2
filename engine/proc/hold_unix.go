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
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
)

// held is one held output.
type held struct {
	file   int
	again  int  // the same file, opened a second time; -1 where that cannot be done
	dst    int  // where it belongs: 1 or 2
	direct bool // the command writes to the file itself
	locked bool // whoever can still write to it holds a lock
	reader io.Writer
}

func newHeld(dst int) (*held, error) {
	file, again, err := openSpool()
	if err != nil {
		return nil, fmt.Errorf("holding %s: %w", outputNames[dst], err)
	}
	return &held{file: file, again: again, dst: dst}, nil
}

// give returns the descriptor that the command writes to. A lock belongs to what
// was opened, and so to all who inherit it (flock(2)): taken through a
// description that only the command and its children keep, it is gone when the
// last of them is, as the end of a pipe would be.
func (h *held) give() int {
	h.direct = true
	if h.again < 0 {
		return h.file
	}
	h.locked = unix.Flock(h.again, unix.LOCK_EX|unix.LOCK_NB) == nil
	return h.again
}

// started lets go of what only the command is to keep.
func (h *held) started() {
	if h.again >= 0 {
		_ = unix.Close(h.again)
		h.again = -1
	}
}

func (h *held) close() {
	h.started()
	_ = unix.Close(h.file)
}

// awaitWriters waits for the processes that a command has left and that can
// still write, for drainTime at most.
func (h *held) awaitWriters(abandon <-chan struct{}) {
	p := pace{begun: time.Now()}
	for h.locked && unix.Flock(h.file, unix.LOCK_SH|unix.LOCK_NB) == unix.EWOULDBLOCK && time.Since(p.begun) < drainTime {
		select {
		case <-abandon:
			return
		case <-time.After(p.pause()):
		}
	}
}

// shownPart is how much of the beginning and of the end the reader is given.
const shownPart = 64 << 10

// show gives the reader what there is to be known of it.
func (h *held) show() {
	var file unix.Stat_t
	if h.reader == nil || unix.Fstat(h.file, &file) != nil {
		return
	}
	buf := make([]byte, min(file.Size, 2*shownPart))
	at := int64(len(buf) / 2)
	n, _ := unix.Pread(h.file, buf[:at], 0)
	m, _ := unix.Pread(h.file, buf[at:], file.Size-(int64(len(buf))-at))
	_, _ = h.reader.Write(buf[:max(n, 0)])
	_, _ = h.reader.Write(buf[at:][:max(m, 0)])
}

// openSpool opens a file without a name in the directory for temporary files,
// open for reading and appending: two processes that write to it do not write
// over one another. It opens it twice where it can, else again is -1.
func openSpool() (file, again int, err error) {
	dir := os.TempDir()
	file, again, err = openUnnamed(dir)
	if err == nil && full(file) {
		closeBoth(file, again)
		err = unix.ENOSPC
	}
	if err == nil {
		return file, again, nil
	}
	if os.Getenv("TMPDIR") == "" && errors.Is(err, unix.ENOENT) {
		if file, again, err := openMemory(); err == nil { // a container image without /tmp
			return file, again, nil
		}
	}
	return -1, -1, fmt.Errorf("no temporary file in %q: %w; set TMPDIR to another directory", dir, err)
}

func closeBoth(file, again int) {
	_ = unix.Close(file)
	if again >= 0 {
		_ = unix.Close(again)
	}
}

// openRemoved opens a file and takes its name away at once.
func openRemoved(dir string) (file, again int, err error) {
	f, err := os.CreateTemp(dir, "retry-*")
	if err != nil {
		return -1, -1, errors.Unwrap(err)
	}
	name := f.Name()
	_ = f.Close()
	defer func() { _ = os.Remove(name) }()
	if file, err = openForAppending(name); err != nil {
		return -1, -1, err
	}
	if again, err = openForAppending(name); err != nil {
		_ = unix.Close(file)
		return -1, -1, err
	}
	return file, again, nil
}

func openForAppending(name string) (int, error) {
	return unix.Open(name, unix.O_RDWR|unix.O_APPEND|unix.O_CLOEXEC, 0)
}

// full reports whether a file cannot grow any more: its file system has no
// block left for this user, or it is as large as files may be.
func full(fd int) bool {
	var file unix.Stat_t
	var limit unix.Rlimit
	if unix.Fstat(fd, &file) == nil && unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && uint64(file.Size) >= uint64(limit.Cur) {
		return true
	}
	var system unix.Statfs_t
	if unix.Fstatfs(fd, &system) != nil || system.Blocks == 0 { // no limit, or none that is told
		return false
	}
	if os.Geteuid() == 0 {
		return system.Bfree == 0
	}
	return system.Bavail <= 0
}

// cut reports whether the command may have failed to write all of it, which it
// need not have noticed.
func (h *held) cut() bool {
	var file unix.Stat_t
	return h.direct && unix.Fstat(h.file, &file) == nil && file.Size > 0 && full(h.file)
}

// release writes the output to where it belongs, or to standard error where
// the attempt was rejected.
func (h *held) release(accepted bool) error {
	defer h.close()
	if accepted && h.cut() {
		return fmt.Errorf("holding %s: the temporary file in %q cannot grow any more, so that some of it may be missing; set TMPDIR to another directory", outputNames[h.dst], os.TempDir())
	}
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
