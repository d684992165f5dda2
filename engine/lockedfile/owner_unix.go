//go:build unix

package lockedfile

// This file says whose a file is, and which process holds its record lock.

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Foreign says why a file may be another user's.
type Foreign string

func (e Foreign) Error() string { return string(e) }

// Own returns a Foreign error for what another user owns, or group or others may
// write. Root makes no exception.
func Own(info fs.FileInfo) error {
	if err := OwnedBy(info, os.Geteuid()); err != nil {
		return err
	}
	if info.Mode().Perm()&0o022 != 0 {
		return Foreign(fmt.Sprintf("may be written by others (mode %04o)", info.Mode().Perm()))
	}
	return nil
}

// OwnedBy returns a Foreign error for what does not belong to the user.
func OwnedBy(info fs.FileInfo, uid int) error {
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != uint32(uid) {
		return Foreign(fmt.Sprintf("belongs to user %d and not to user %d", owner, uid))
	}
	return nil
}

// Hold takes the record lock of the file. It belongs to the process: a command
// does not inherit it, and it is free once the process has ended, or has closed
// any descriptor of the file (fcntl(2)). So the process opens the file once.
func (l *File) Hold() error {
	return os.NewSyscallError("fcntl", l.record(syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}))
}

// Holder reports whether a process holds the record lock, and which one, as this
// process sees it: 0 or less where it is in another PID namespace. Nothing is
// locked.
func (l *File) Holder() (pid int, held bool, err error) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	err = l.record(syscall.F_GETLK, &lock)
	return int(lock.Pid), err == nil && lock.Type != syscall.F_UNLCK, os.NewSyscallError("fcntl", err)
}

func (l *File) record(command int, lock *syscall.Flock_t) error {
	for {
		if err := syscall.FcntlFlock(uintptr(l.fd), command, lock); err != syscall.EINTR {
			return err
		}
	}
}
