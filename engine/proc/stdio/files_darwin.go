package stdio

// This file has calls that only macOS has.

import (
	"bytes"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	fionread               = 0x4004667f // FIONREAD of sys/filio.h: _IOR('f', 127, int)
	getTermios, setTermios = unix.TIOCGETA, unix.TIOCSETA

	// pollNoReader is what poll(2) reports for a pipe without a reader: POLLHUP, as
	// for one without a writer.
	pollNoReader = unix.POLLERR | unix.POLLHUP
)

// pipe holds the fork lock while the ends can be inherited.
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

func openUnnamed(dir string) (int, error) { return openRemoved(dir) }

// The following have no counterpart here: sendfile(2) sends to sockets only, and
// /dev/fd shares the position.
func enlargePipe(File)                                              {}
func openMemory() (int, error)                                      { return -1, unix.ENOSYS }
func copyInKernel(File, File, *atomic.Int64) (done bool, err error) { return false, nil }
func reopen() (File, error)                                         { return noFile, unix.ENOSYS }

// OpenPty opens both ends of a pseudo-terminal as posix_openpt(3), grantpt(3),
// unlockpt(3) and ptsname(3) do.
func OpenPty() (master, slave File, err error) {
	if master, err = open("/dev/ptmx", unix.O_RDWR); err != nil {
		return noFile, noFile, err
	}
	var name [128]byte // the size that TIOCPTYGNAME has in its number
	for _, request := range []uint{unix.TIOCPTYGRANT, unix.TIOCPTYUNLK, unix.TIOCPTYGNAME} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(master), uintptr(request),
			uintptr(unsafe.Pointer(&name[0]))); errno != 0 {
			closeFile(master)
			return noFile, noFile, errno
		}
	}
	path, _, _ := bytes.Cut(name[:], []byte{0})
	if slave, err = open(string(path), unix.O_RDWR); err != nil {
		closeFile(master)
	}
	return master, slave, err
}

// keys are not passed on; docs/streams.md names programs that read them from an output.
type keys struct{}

func watchModes(File, *unix.Termios)       {}
func (p *Pump) read(b []byte) (int, error) { return p.src.Read(b) }
func (*Pump) modesBack()                   {}
