//go:build unix

package lockedfile

// This file opens files below the descriptor of their directory: whoever may rename that cannot
// lead another user's program elsewhere by a link.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const hasModes = true

// Dir is a directory that is open.
type Dir struct {
	path  string
	fd    int
	group bool
}

// OpenDir opens a directory below one with this sharing, and makes it if create is set: 2770 and
// of the group, or 0700. It follows no link. A directory that others may write is refused, and
// in one that is not shared, another user's.
func OpenDir(path string, s Sharing, create bool) (*Dir, error) {
	d := &Dir{path: path, group: s.Group}
	open := func() (err error) {
		return again(func() (err error) {
			d.fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			return err
		})
	}
	err := open()
	if err == unix.ENOENT && create {
		if err = os.Mkdir(path, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			err = open()
		}
	}
	if err == unix.ELOOP || err == unix.ENOTDIR {
		err = errors.New("is not a directory, or is a symbolic link, which is not followed")
	}
	if err != nil {
		return nil, pathError("open", path, err)
	}
	if err := d.check(s); err != nil {
		d.Close()
		return nil, pathError("use", path, err)
	}
	return d, nil
}

func pathError(op, path string, err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// check refuses a directory of others, and gives one of the user the mode that it has to have.
func (d *Dir) check(s Sharing) error {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return err
	}
	mode, ours := uint32(st.Mode)&0o7777, int(st.Uid) == os.Geteuid()
	switch {
	case mode&0o002 != 0:
		return fmt.Errorf("may be written by all users (mode %04o); chmod o-w it", mode)
	case !s.Group && ours && mode&^0o700 != 0: // what it inherited, a setgid bit too
		return unix.Fchmod(d.fd, 0o700)
	case !s.Group:
		return checkOwner(int(st.Uid))
	case ours && (mode != 0o2770 || int(st.Gid) != s.GID):
		return errors.Join(unix.Fchown(d.fd, -1, s.GID), unix.Fchmod(d.fd, 0o2770))
	}
	return nil
}

// Close closes the directory.
func (d *Dir) Close() { _ = unix.Close(d.fd) }

// Open opens a file of the directory, and makes it if create is set, for the user or the group
// whatever the umask says. No link is followed, and no FIFO waited for.
func (d *Dir) Open(name string, create bool) (*File, error) {
	flags, mode := unix.O_RDWR, uint32(0o600)
	if create {
		flags |= unix.O_CREAT
	}
	if d.group {
		mode = 0o660
	}
	file, err := d.openAt(name, flags, mode)
	if err == nil && create && d.group {
		err = d.pathError("chmod", name, file.openToGroup())
		if err != nil {
			file.Close()
			return nil, err
		}
	}
	return file, err
}

func (d *Dir) openAt(name string, flags int, mode uint32) (*File, error) {
	file := &File{group: d.group}
	err := again(func() (err error) {
		file.fd, err = unix.Openat(d.fd, name, flags|unix.O_CLOEXEC|NoFollow, mode)
		return err
	})
	if err == unix.ELOOP {
		err = errors.New("is a symbolic link, which is not followed")
	}
	if err != nil {
		return nil, d.pathError("open", name, err)
	}
	return file, nil
}

// openToGroup gives a file that the user has just made the mode that the umask took from it.
func (l *File) openToGroup() error {
	var st unix.Stat_t
	err := unix.Fstat(l.fd, &st)
	if err != nil || int(st.Uid) != os.Geteuid() || st.Mode&0o777 == 0o660 || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return err
	}
	return unix.Fchmod(l.fd, 0o660)
}

// WriteNew writes a file in place of one of that name.
func (d *Dir) WriteNew(name string, data []byte) error {
	_ = d.Remove(name)
	file, err := d.openAt(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if d.group {
		err = file.openToGroup()
	}
	if err == nil {
		_, err = file.WriteAt(data, 0)
	}
	return d.pathError("write", name, err)
}

// Remove removes a file.
func (d *Dir) Remove(name string) error {
	return d.pathError("remove", name, unix.Unlinkat(d.fd, name, 0))
}

// Modified says when a regular file was changed; regular is false for anything else.
func (d *Dir) Modified(name string) (at time.Time, regular bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return at, false, d.pathError("stat", name, err)
	}
	return time.Unix(st.Mtim.Unix()), st.Mode&unix.S_IFMT == unix.S_IFREG, nil
}

// Names are the names of some files, at most n.
func (d *Dir) Names(n int) ([]string, error) {
	fd, err := unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, d.pathError("open", ".", err)
	}
	list := os.NewFile(uintptr(fd), d.path)
	defer func() { _ = list.Close() }()
	return list.Readdirnames(n)
}

func groupOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Gid) }
