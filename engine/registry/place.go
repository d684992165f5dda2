package registry

// This file says where records are.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/retrysh/retry/engine/lockedfile"
)

// Place is a directory that may hold records.
type Place struct {
	Path string
	// parents says that the directories above are made too; above that the one
	// above has to be there, and the user's own.
	parents, above bool
}

// Variable names the directory, in place of all others; empty, there is none.
const Variable = "RETRY_RUNTIME_DIR"

// Places are where a run of this user is registered, the first that can be used,
// and where others look for it.
func Places(lookup func(string) (string, bool)) []Place {
	if path, ok := lookup(Variable); ok {
		if path == "" {
			return nil
		}
		if whole, err := filepath.Abs(path); err == nil {
			path = whole
		}
		return []Place{{Path: path, parents: true}}
	}
	return places(func(name string) string { value, _ := lookup(name); return value })
}

// use checks that the directory is the user's alone, and makes it where it is not
// there.
func (p *Place) use(create bool) error {
	if p.above {
		info, err := os.Stat(filepath.Dir(p.Path))
		switch {
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%q is not a directory", filepath.Dir(p.Path))
		}
		if err := lockedfile.OwnedBy(info, os.Geteuid()); err != nil {
			return fmt.Errorf("%q %w", filepath.Dir(p.Path), err)
		}
	}
	info, err := os.Lstat(p.Path)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = p.create(); err == nil {
			info, err = os.Lstat(p.Path)
		}
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%q is not a directory", p.Path)
	}
	if err := lockedfile.Own(info); err != nil {
		return fmt.Errorf("the directory %q %w", p.Path, err)
	}
	return nil
}

// create makes the directory. Another run may do so at the same time.
func (p *Place) create() error {
	make := os.Mkdir
	if p.parents {
		make = os.MkdirAll
	}
	err := make(p.Path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = os.Chmod(p.Path, 0o700) // whatever the umask has left of it
	}
	return err
}
