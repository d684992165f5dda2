//go:build unix

package proc

// This file gives every attempt the same standard input.

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// spoolMemory is how much of a replayed input is kept in memory (SPEC section 7).
const spoolMemory = 1 << 20

// stdin is the program's standard input as the attempts get it.
type stdin struct {
	mode   StdinMode
	null   int
	offset int64  // of a seekable file, at the start
	spool  *spool // of anything else that is replayed
}

func openStdin(mode StdinMode) (*stdin, error) {
	in := &stdin{mode: mode, null: -1}
	switch mode {
	case Null:
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("opening /dev/null: %w", err)
		}
		in.null = fd
	case Replay:
		var st unix.Stat_t
		if unix.Fstat(0, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			offset, err := unix.Seek(0, 0, unix.SEEK_CUR)
			if err == nil {
				in.offset = offset
				return in, nil
			}
		}
		in.spool = &spool{file: -1}
	}
	return in, nil
}

func (in *stdin) close() {
	if in.null >= 0 {
		_ = unix.Close(in.null)
		in.null = -1
	}
}

// openStdin decides where the command's standard input comes from.
func (s *streams) openStdin(a *running) error {
	in := a.stdin
	switch {
	case in.mode == Null:
		s.child[0] = uintptr(in.null)
	case in.spool != nil:
		p, err := newPipe()
		if err != nil {
			return err
		}
		_ = unix.SetNonblock(p[1], true) // our end only: the two are separate descriptions
		s.child[0] = uintptr(p[0])
		s.closing = append(s.closing, p[0])
		s.feeder = &feeder{spool: in.spool, dst: p[1], over: s.over, fail: a.fail, done: make(chan struct{})}
	case in.mode == Replay:
		if _, err := unix.Seek(0, in.offset, unix.SEEK_SET); err != nil {
			return fmt.Errorf("rewinding standard input: %w", err)
		}
	}
	return nil
}

// spool is what has been read of a live input so far: in memory at first, then
// in a file without a name.
type spool struct {
	mu     sync.Mutex
	memory []byte
	file   int // -1 while memory is enough
	size   int64
	ended  bool // the input has no more
}

// readAt fills b with what was kept from offset on. It returns 0 where more has
// to be read from the input first.
func (s *spool) readAt(b []byte, offset int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file < 0 {
		return copy(b, s.memory[min(offset, s.size):]), nil
	}
	if offset >= s.size {
		return 0, nil
	}
	return unix.Pread(s.file, b, offset)
}

// grow reads once from the program's standard input, which has something to
// read or has ended, and keeps it.
func (s *spool) grow(buf []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := unix.Read(0, buf)
	switch {
	case err == unix.EINTR, err == unix.EAGAIN:
		return nil
	case err == unix.EIO || n == 0 && err == nil: // EIO: a terminal that has gone
		s.ended = true
		return nil
	case err != nil:
		return fmt.Errorf("reading standard input: %w", err)
	}
	if err := s.keep(buf[:n]); err != nil {
		return fmt.Errorf("keeping standard input for the next attempt: %w", err)
	}
	return nil
}

func (s *spool) keep(b []byte) error {
	if s.file < 0 && len(s.memory)+len(b) <= spoolMemory {
		s.memory = append(s.memory, b...)
		s.size += int64(len(b))
		return nil
	}
	if s.file < 0 {
		file, err := openSpool()
		if err != nil {
			return err
		}
		if err := writeAll(file, s.memory); err != nil {
			return err
		}
		s.file, s.memory = file, nil
	}
	if err := writeAll(s.file, b); err != nil {
		return err
	}
	s.size += int64(len(b))
	return nil
}

func (s *spool) atEnd() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// feeder writes the input to one attempt, first what was kept, then what comes.
type feeder struct {
	spool *spool
	dst   int
	over  *wake
	fail  func(error)
	done  chan struct{}
}

// wait waits for a feeder after the attempt, and reports whether it has ended:
// a terminal's reader may be stuck where another process took the bytes.
func (f *feeder) wait() bool {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-f.done:
		return true
	case <-timer.C:
		return false
	}
}

func (f *feeder) run() {
	defer close(f.done)
	defer func() { _ = unix.Close(f.dst) }()
	buf := make([]byte, pumpBuffer)
	var offset int64
	for f.over.at.Load() == nil {
		n, err := f.spool.readAt(buf, offset)
		if err == nil && n == 0 {
			if f.spool.atEnd() {
				return
			}
			if !f.awaitInput() {
				return
			}
			err = f.spool.grow(buf)
		}
		if err == nil && n > 0 {
			err = f.write(buf[:n])
			offset += int64(n)
		}
		if errors.Is(err, unix.EPIPE) { // the command has read all that it wanted
			return
		}
		if err != nil {
			f.fail(err)
			// The command must not take what it has got for all that there is.
			_ = poll(-1, pollFd(f.over.read, unix.POLLIN))
			return
		}
	}
}

// awaitInput blocks until the input can be read. It never makes the input
// non-blocking: that would change it for everybody who shares it. It reports
// false where the command has ended or does not read any more.
func (f *feeder) awaitInput() bool {
	fds := poll(-1, pollFd(0, unix.POLLIN), pollFd(f.over.read, unix.POLLIN), pollFd(f.dst, 0))
	return fds[1].Revents == 0 && fds[2].Revents&pollNoReader == 0
}

// write gives b to the command as fast as the command takes it.
func (f *feeder) write(b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(f.dst, b)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			fds := poll(-1, pollFd(f.dst, unix.POLLOUT), pollFd(f.over.read, unix.POLLIN))
			if fds[1].Revents != 0 {
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
