package proc

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// screenLocks are a run's locks on its terminal: fcntl(2) locks of a description of
// its own, since that of standard error is shared with all that write there. The
// first byte is locked by the run that draws, the second by all that write.
type screenLocks struct {
	once  sync.Once
	own   int // -1 where there is none
	wrote sync.Once
	crowd bool // another run has been seen
}

const drawByte, writeByte = 0, 1

func (s *screenLocks) open(fd int) bool {
	s.once.Do(func() {
		var err error
		if s.own, err = unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
			s.own = -1
		}
	})
	return s.own >= 0
}

func (s *screenLocks) set(kind int16, at int64) bool {
	return unix.FcntlFlock(uintptr(s.own), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: at, Len: 1}) == nil
}

// lock reports true where there are no locks: then no other run is known.
func (s *screenLocks) lock(fd int) bool { return !s.open(fd) || s.set(unix.F_WRLCK, drawByte) }

// Release gives the right to draw back.
func (s *Screen) Release() {
	if s.open(s.fd) {
		s.set(unix.F_UNLCK, drawByte)
	}
}

// Crowded says that this run writes to the terminal, and reports whether another
// run has done so beside it. It is for one goroutine at a time.
func (s *Screen) Crowded() bool {
	if !s.open(s.fd) {
		return false
	}
	s.wrote.Do(func() { s.set(unix.F_RDLCK, writeByte) })
	other := unix.Flock_t{Type: unix.F_WRLCK, Start: writeByte, Len: 1}
	s.crowd = s.crowd || unix.FcntlFlock(uintptr(s.own), unix.F_OFD_GETLK, &other) == nil && other.Type != unix.F_UNLCK
	return s.crowd
}
