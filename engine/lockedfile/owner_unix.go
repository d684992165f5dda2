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

// checkOwner refuses what another user could have put there.
func checkOwner(uid uint32) error {
	if uid != 0 && uid != uint32(os.Geteuid()) {
		return fmt.Errorf("belongs to user %d; it has to be ours or root's", uid)
	}
	return nil
}

// CheckDir refuses a directory that another user could have put there, or could put
// files into in place of ours.
func CheckDir(path string) error {
	var st syscall.Stat_t
	err := syscall.Lstat(path, &st)
	switch mode := uint32(st.Mode); {
	case err != nil:
	case mode&syscall.S_IFMT != syscall.S_IFDIR:
		err = syscall.ENOTDIR
	case mode&(syscall.S_IWOTH|syscall.S_ISVTX) == syscall.S_IWOTH:
		err = fmt.Errorf("may be written by all users (mode %04o); use a directory of your own, or chmod 700", mode&0o7777)
	default:
		err = checkOwner(st.Uid)
	}
	if err != nil {
		return &fs.PathError{Op: "use", Path: path, Err: err}
	}
	return nil
}

// Hold takes the record lock of the file. It belongs to the process: a command
// does not inherit it, and it is free once the process has ended, or has closed
// any descriptor of the file (fcntl(2)). So the process opens the file once.
func (l *File) Hold() error {
	return l.record(syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart})
}

// Holder reports whether a process holds the record lock, and which one, as this
// process sees it: 0 or less where it is in another PID namespace. Nothing is
// locked.
func (l *File) Holder() (pid int, held bool, err error) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	err = l.record(syscall.F_GETLK, &lock)
	return int(lock.Pid), err == nil && lock.Type != syscall.F_UNLCK, err
}

func (l *File) record(command int, lock *syscall.Flock_t) (err error) {
	again(func() { err = syscall.FcntlFlock(uintptr(l.fd), command, lock) }, &err)
	return os.NewSyscallError("fcntl", err)
}
