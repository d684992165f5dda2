//go:build unix

package proc

// This file connects an attempt's standard streams: to the program's own
// descriptors wherever nobody needs the bytes, else through a pipe that is
// passed on first and read along second.

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// streams are the standard streams of one attempt.
type streams struct {
	child   [3]uintptr // what the command gets
	closing []int      // the command's ends of pipes, closed once it has started
	feeder  *feeder
	pumps   []*pump
	outputs []*held
	over    *wake
}

// wake is a pipe whose closing wakes all who poll it.
type wake struct {
	read, write int
	at          atomic.Pointer[time.Time] // when it was closed, nil before
}

func newWake() (*wake, error) {
	p, err := newPipe()
	if err != nil {
		return nil, err
	}
	return &wake{read: p[0], write: p[1]}, nil
}

func (w *wake) call() {
	if w.at.Load() == nil {
		now := time.Now()
		w.at.Store(&now)
		_ = unix.Close(w.write)
	}
}

// open makes the descriptors for one attempt.
func (a *running) open() (*streams, error) {
	s := &streams{child: [3]uintptr{0, 1, 2}}
	err := s.openAll(a)
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *streams) openAll(a *running) error {
	var err error
	captures := a.spec.Stdout != nil || a.spec.Stderr != nil || a.cfg.Stdout == Hold || a.cfg.Stderr == Hold || a.cfg.Stdin == Replay && a.stdin.spool != nil
	if captures {
		if s.over, err = newWake(); err != nil {
			return err
		}
	}
	if err := s.openStdin(a); err != nil {
		return err
	}
	if err := s.openOutput(a, 1, a.cfg.Stdout, a.spec.Stdout); err != nil {
		return err
	}
	return s.openOutput(a, 2, a.cfg.Stderr, a.spec.Stderr)
}

// openOutput decides where the command's descriptor fd leads. To hold it back, the
// command could be given the file itself, at half the time for 1 GiB: but then
// nobody notices what it failed to write to a full disk, nor sees the end of
// what its children still write, and it may lock or truncate the file.
func (s *streams) openOutput(a *running, fd int, mode OutputMode, also io.Writer) error {
	dst, doing := fd, "writing "+outputNames[fd]
	if mode == Hold {
		h, err := newHeld(fd)
		if err != nil {
			return err
		}
		s.outputs = append(s.outputs, h)
		dst, doing = h.file, fmt.Sprintf("holding %s in a file in %q", outputNames[fd], os.TempDir())
	}
	if also == nil && mode != Hold {
		s.child[fd] = uintptr(dst)
		return nil
	}
	p, err := newPipe()
	if err != nil {
		return err
	}
	widen(p[0])
	_ = unix.SetNonblock(p[0], true) // our end only: the two are separate descriptions
	s.child[fd] = uintptr(p[1])
	s.closing = append(s.closing, p[1])
	s.pumps = append(s.pumps, &pump{
		src: p[0], dst: dst, doing: doing, also: also, over: s.over, done: make(chan struct{}),
		gone: func() {
			if fd == 1 {
				a.readerGone()
			}
		},
		fail: a.fail,
	})
	return nil
}

var outputNames = [3]string{"", "standard output", "standard error"}

func (s *streams) files() []uintptr { return s.child[:] }

// start lets go of the command's ends and begins to move bytes.
func (s *streams) start() {
	for _, fd := range s.closing {
		_ = unix.Close(fd)
	}
	s.closing = nil
	for _, p := range s.pumps {
		go p.run()
	}
	if s.feeder != nil {
		go s.feeder.run()
	}
}

// close undoes open where no command has started.
func (s *streams) close() {
	for _, fd := range s.closing {
		_ = unix.Close(fd)
	}
	for _, p := range s.pumps {
		_ = unix.Close(p.src)
	}
	if s.feeder != nil {
		_ = unix.Close(s.feeder.dst)
	}
	for _, h := range s.outputs {
		_ = unix.Close(h.file)
	}
	if s.over != nil {
		s.over.call()
		_ = unix.Close(s.over.read)
	}
	s.outputs = nil
}

// haste is how long the rest of an attempt's output may take.
type haste int

const (
	asLongAsItTakes haste = iota
	// withPatience does not wait for a reader that takes nothing: a time limit
	// has ended the attempt.
	withPatience
	// atOnce leaves it drainTime: nobody will judge it.
	atOnce
)

// drain ends the moving of bytes after the command has ended: all that was in
// the pipes by then is passed on and read along first. abandon ends it at any
// time, for which signals must be caught.
func (s *streams) drain(abandon <-chan struct{}, haste haste, catch func()) {
	if s.over == nil {
		return
	}
	s.over.call()
	defer time.AfterFunc(catchLater, catch).Stop()
	late := make(chan struct{})
	if haste == atOnce {
		defer time.AfterFunc(drainTime, func() { close(late) }).Stop()
	}
	all := true
	for _, p := range s.pumps {
		if !p.finished(abandon, late, haste == withPatience) {
			all = false
			p.drop()
		}
	}
	if s.feeder != nil && !s.feeder.wait() {
		all = false
	}
	if all { // what was left behind may still poll it
		_ = unix.Close(s.over.read)
	}
}

func (s *streams) held() []*held { return s.outputs }

// newPipe makes a pipe whose ends no child inherits unasked.
func newPipe() (p [2]int, err error) {
	if err := pipe(p[:]); err != nil {
		return p, fmt.Errorf("no pipe to be had: %w", err)
	}
	return p, nil
}

// pending returns how many bytes a pipe holds.
func pending(fd int) int {
	n, err := unix.IoctlGetInt(fd, fionread)
	if err != nil {
		return 0
	}
	return n
}

func pollFd(fd int, events int16) unix.PollFd { return unix.PollFd{Fd: int32(fd), Events: events} }

// poll waits for one of fds, for ms milliseconds or for ever (-1).
func poll(ms int, fds ...unix.PollFd) []unix.PollFd {
	for {
		_, err := unix.Poll(fds, ms)
		if err != unix.EINTR {
			return fds
		}
	}
}

// writeAll writes b through a plain descriptor. Go's own files end the program
// by SIGPIPE when it is standard output whose reader has gone, and a shared
// descriptor may be non-blocking through no fault of ours.
func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			_ = poll(-1, pollFd(fd, unix.POLLOUT))
		case err != nil:
			return err
		default:
			b = b[n:]
		}
	}
	return nil
}

// noReader reports whether fd is a pipe or socket that nobody reads.
func noReader(fd int) bool {
	return poll(0, pollFd(fd, 0))[0].Revents&pollNoReader != 0
}
