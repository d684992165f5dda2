//go:build unix

package lockedfile

// This file is what Unix systems lock files with: flock. Its lock belongs to the
// open file description: a copy of the descriptor that a command inherits holds
// it, and LOCK_UN on any copy frees it for all (flock(2)).

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// NoFollow are flags of open: no symbolic link is followed, and no FIFO waited for.
const NoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// File is a file that can be locked. It is no os.File, which the runtime's poller
// would have to know.
type File struct {
	fd int
	// group says that it may be any member's of the group that shares its directory.
	group bool
}

// Open opens a file of ours. A symbolic link is not followed.
func Open(path string, create bool) (*File, error) {
	if create {
		return open(path, syscall.O_RDWR|syscall.O_CREAT)
	}
	return open(path, syscall.O_RDWR)
}

// Create makes a file of ours, for this user alone whatever the umask says, which
// must not be there.
func Create(path string) (*File, error) {
	file, err := open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL)
	if err == nil {
		_ = syscall.Fchmod(file.fd, 0o600)
	}
	return file, err
}

// View opens a file to look at it.
func View(path string) (*File, error) { return open(path, syscall.O_RDONLY) }

func open(path string, flags int) (file *File, err error) {
	file = new(File)
	err = again(func() (err error) {
		file.fd, err = syscall.Open(path, flags|syscall.O_CLOEXEC|NoFollow, 0o600)
		return err
	})
	if err == syscall.ELOOP {
		err = errors.New("is a symbolic link, which is not followed")
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return file, nil
}

// again makes a system call until no signal interrupts it.
func again(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}

// sleep blocks this thread alone. A timer of the runtime wakes others, which takes longer
// than the transaction that is waited for.
func sleep(d time.Duration) {
	left := unix.NsecToTimeval(int64(d))
	_, _ = unix.Select(0, nil, nil, nil, &left)
}

// FromFile is an open file, whose descriptor it shares.
func FromFile(f *os.File) *File { return &File{fd: int(f.Fd())} }

// Descriptor is what the lock belongs to.
func (l *File) Descriptor() uintptr { return uintptr(l.fd) }

// Unlock frees the lock for all copies of the descriptor, and closes it.
func (l *File) Unlock() {
	_ = syscall.Flock(l.fd, syscall.LOCK_UN)
	l.Close()
}

// Close closes the file.
func (l *File) Close() { _ = syscall.Close(l.fd) }

// TryLock reports whether the lock was free.
func (l *File) TryLock() (locked bool, err error) {
	err = again(func() error { return syscall.Flock(l.fd, syscall.LOCK_EX|syscall.LOCK_NB) })
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, os.NewSyscallError("flock", err)
}

// wait waits for the lock, for ever.
func (l *File) wait(context.Context) error {
	return os.NewSyscallError("flock", again(func() error { return syscall.Flock(l.fd, syscall.LOCK_EX) }))
}

// Check refuses what is not a file of ours, and reports whether it was removed
// since it was opened.
func (l *File) Check() (removed bool, err error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(l.fd, &st); err != nil {
		return false, os.NewSyscallError("fstat", err)
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return false, errors.New("is not a regular file")
	}
	if st.Nlink > 1 {
		return false, errors.New("has a second name, by a hard link; it may be a file of another user")
	}
	if l.group {
		return st.Nlink == 0, nil
	}
	return st.Nlink == 0, checkOwner(int(st.Uid))
}

// ReadAt reads as pread does. The end of the file is io.EOF.
func (l *File) ReadAt(b []byte, offset int64) (int, error) {
	return l.whole(b, offset, syscall.Pread, io.EOF)
}

// WriteAt writes as pwrite does.
func (l *File) WriteAt(b []byte, offset int64) (int, error) {
	return l.whole(b, offset, syscall.Pwrite, syscall.ENOSPC)
}

// whole goes on if a call did less than it was asked for. none is the error
// for a call that does nothing.
func (l *File) whole(
	b []byte, offset int64, call func(int, []byte, int64) (int, error), none error,
) (done int, err error) {
	for done < len(b) {
		n, err := call(l.fd, b[done:], offset+int64(done))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return done, err
		case n == 0:
			return done, none
		default:
			done += n
		}
	}
	return done, nil
}

// Hold takes the record lock of the file. It belongs to the process: a command
// does not inherit it, and it is free once the process has ended, or has closed
// any descriptor of the file (fcntl(2)). So the process opens the file once.
func (l *File) Hold() error {
	return l.record(syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart})
}

// Holder reports whether a process holds the record lock, and which one, as this process sees
// it: 0 or less if it is in another PID namespace. Nothing is locked.
func (l *File) Holder() (pid int, held bool, err error) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	err = l.record(syscall.F_GETLK, &lock)
	return int(lock.Pid), err == nil && lock.Type != syscall.F_UNLCK, err
}

func (l *File) record(command int, lock *syscall.Flock_t) error {
	return os.NewSyscallError("fcntl", again(func() error { return syscall.FcntlFlock(uintptr(l.fd), command, lock) }))
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
