package lockedfile

// This file is what Windows locks files with: LockFileEx. Its lock belongs to the process: a
// command does not inherit it, so that a slot is free once the program has ended.

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// NoFollow is a flag of open: no symbolic link is followed.
const NoFollow = windows.O_FILE_FLAG_OPEN_REPARSE_POINT

// File is a file that can be locked.
type File struct{ *os.File }

// Open opens a file of ours.
func Open(path string, create bool) (*File, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(path, flags, 0o600)
	return &File{file}, err
}

// Create makes a file of ours, which must not be there. It can be renamed and
// removed while it is open.
func Create(path string) (*File, error) { return shared(path, windows.CREATE_NEW) }

// View opens a file to look at it, and keeps no other process from removing it.
func View(path string) (*File, error) { return shared(path, windows.OPEN_EXISTING) }

func shared(path string, disposition uint32) (*File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, share, nil, disposition,
		windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &File{os.NewFile(uintptr(handle), path)}, nil
}

// FromFile is an open file.
func FromFile(f *os.File) *File { return &File{f} }

// Descriptor is the handle that the lock belongs to.
func (l *File) Descriptor() uintptr { return l.Fd() }

// beyond is a byte that no file reaches: LockFileEx keeps others from reading what is locked.
func beyond() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// Unlock frees the lock and closes the file.
func (l *File) Unlock() {
	l.free()
	l.Close()
}

func (l *File) free() { _ = windows.UnlockFileEx(windows.Handle(l.Fd()), 0, 1, 0, beyond()) }

// Close closes the file.
func (l *File) Close() { _ = l.File.Close() }

// TryLock reports whether the lock was free.
func (l *File) TryLock() (bool, error) {
	err := windows.LockFileEx(windows.Handle(l.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, beyond())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func (l *File) wait(ctx context.Context) error { return l.Lock(ctx) }

// Check has nothing to ask: an open file is not removed, and files belong to
// whom their directory does.
func (l *File) Check() (removed bool, err error) {
	info, err := l.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	return false, err
}

// ownerOf is the user, as os.Geteuid says it: files belong to whom their directory does.
func ownerOf(fs.FileInfo) int { return os.Geteuid() }

func sleep(d time.Duration) { time.Sleep(d) }

// Hold locks the file.
func (l *File) Hold() error {
	locked, err := l.TryLock()
	if err == nil && !locked {
		err = ErrHeld
	}
	return err
}

// Holder reports whether a process holds the lock. Which one is not known, and pid
// is 0. The lock is taken for a moment.
func (l *File) Holder() (pid int, held bool, err error) {
	locked, err := l.TryLock()
	if locked {
		l.free()
	}
	return 0, !locked, err
}
