package proc

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// Screen is a terminal that several runs may write to. They know of one another by
// fcntl(2) locks, which the kernel frees when a run ends. The locks are on a description
// of each run's own, since that of standard error is shared with all that write there.
// The first byte is locked by the run that draws, the second by all that write.
type Screen struct {
	own   func() int // that description, opened when it is first used; -1 if there is none
	wrote sync.Once
	crowd bool // another run has been seen
}

const drawByte, writeByte = 0, 1

// OpenScreen is for the terminal that fd is open on.
func OpenScreen(fd int) *Screen {
	return &Screen{own: sync.OnceValue(func() int {
		own, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd),
			unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1
		}
		return own
	})}
}

func (s *Screen) lock(how int, lock *unix.Flock_t) bool {
	lock.Len = 1
	return unix.FcntlFlock(uintptr(s.own()), how, lock) == nil
}

// Claim asks for the right to draw a line in place, and reports whether it was
// given: no other run has it, and no process of the job writes there but the
// command and those that wait for this program.
func (s *Screen) Claim() bool {
	return !besideOthers() &&
		(s.own() < 0 || s.lock(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: drawByte}))
}

// Release gives the right to draw back.
func (s *Screen) Release() {
	s.lock(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK, Start: drawByte})
}

// Crowded says that this run writes to the terminal, and reports whether another
// run has done so beside it. It is for one goroutine at a time.
func (s *Screen) Crowded() bool {
	s.wrote.Do(func() { s.lock(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Start: writeByte}) })
	other := unix.Flock_t{Type: unix.F_WRLCK, Start: writeByte}
	s.crowd = s.crowd || s.lock(unix.F_OFD_GETLK, &other) && other.Type != unix.F_UNLCK
	return s.crowd
}
