package lockedfile

// This file says whose a file or a directory is.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
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
	if mode := info.Mode().Perm(); mode&0o022 != 0 && runtime.GOOS != "windows" {
		return Foreign(fmt.Sprintf("may be written by others (mode %04o)", mode))
	}
	return nil
}

// OwnedBy returns a Foreign error for what does not belong to the user.
func OwnedBy(info fs.FileInfo, uid int) error {
	if owner := ownerOf(info); owner != uid {
		return Foreign(fmt.Sprintf("belongs to user %d and not to user %d", owner, uid))
	}
	return nil
}

// checkOwner refuses what another user could have put there.
func checkOwner(uid int) error {
	if uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("belongs to user %d; it has to be ours or root's", uid)
	}
	return nil
}

// OwnDir returns an error if a directory, as stat describes it, is not the user's
// alone. mkdir makes it if it is missing, unless mkdir is nil.
func OwnDir(path string, stat func(string) (fs.FileInfo, error), mkdir func(string, fs.FileMode) error) error {
	info, err := stat(path)
	if mkdir != nil && errors.Is(err, fs.ErrNotExist) {
		if err = mkdir(path, 0o700); err == nil {
			err = os.Chmod(path, 0o700) // without the umask
		}
		if err == nil || errors.Is(err, fs.ErrExist) { // made by another process
			info, err = stat(path)
		}
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%q is not a directory", path)
	}
	if err := Own(info); err != nil {
		return fmt.Errorf("the directory %q %w", path, err)
	}
	return nil
}
