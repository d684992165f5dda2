package lockedfile

// This file says which directories hold files that several processes lock: those of one user, and
// those of a group.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Sharing is who may use the files in a directory.
type Sharing struct {
	// Group says that the members of a group share them, and GID which group.
	Group bool
	GID   int
}

// makeShared is how a directory for the members of a group is made.
const makeShared = "for a group make it by: install -d -m 2770 -g GROUP %s"

// SharingOf says who shares the files below a directory of root or of the user: the members of
// its group, if it has the setgid bit and they may write it, else the user alone. It refuses a
// directory that others may write, with the sticky bit too, one of a third user, and one of root
// that its group may write without the setgid bit.
func SharingOf(path string) (Sharing, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Sharing{}, err
	}
	owner, gid := ownerOf(info), groupOf(info)
	mode := info.Mode()
	setgid, byGroup := mode&fs.ModeSetgid != 0, mode.Perm()&0o020 != 0
	refuse := func(format string, args ...any) (Sharing, error) {
		hint := fmt.Sprintf(makeShared, path)
		return Sharing{}, &fs.PathError{Op: "use", Path: path, Err: fmt.Errorf(format+"; "+hint, args...)}
	}
	switch {
	case !mode.IsDir():
		return Sharing{}, &fs.PathError{Op: "use", Path: path, Err: errors.New("is not a directory")}
	case !hasModes:
		return Sharing{}, nil
	case mode.Perm()&0o002 != 0:
		return refuse("may be written by all users (mode %04o)", bits(mode))
	case owner != 0 && owner != os.Geteuid():
		return refuse("belongs to user %d; it has to be yours or root's", owner)
	case setgid && byGroup:
		return Sharing{Group: true, GID: gid}, nil
	case owner == 0 && byGroup:
		return refuse("belongs to root and may be written by its group, without the setgid bit (mode %04o)", bits(mode))
	}
	return Sharing{}, nil
}

// bits is a mode as chmod takes it.
func bits(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for bit, of := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&bit != 0 {
			bits |= of
		}
	}
	return bits
}

func (d *Dir) in(name string) string { return filepath.Join(d.path, name) }

// pathError is an error about a file in the directory.
func (d *Dir) pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: d.in(name), Err: err}
}
