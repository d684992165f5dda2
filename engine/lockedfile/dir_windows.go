package lockedfile

import (
	"io/fs"
	"os"
	"time"
)

// hasModes is false: files belong to whom their directory does.
const hasModes = false

// Dir is a directory.
type Dir struct{ path string }

// OpenDir returns a directory, and makes it if create is set.
func OpenDir(path string, _ Sharing, create bool) (*Dir, error) {
	_, err := os.Stat(path)
	if create && os.IsNotExist(err) {
		err = os.MkdirAll(path, 0o700)
	}
	return &Dir{path}, err
}

// Close has nothing to close.
func (d *Dir) Close() {}

// Open opens a file of the directory, and makes it if create is set.
func (d *Dir) Open(name string, create bool) (*File, error) { return Open(d.in(name), create) }

// WriteNew writes a file in place of one of that name.
func (d *Dir) WriteNew(name string, data []byte) error {
	_ = os.Remove(d.in(name))
	return os.WriteFile(d.in(name), data, 0o600)
}

// Remove removes a file.
func (d *Dir) Remove(name string) error { return os.Remove(d.in(name)) }

// Modified says when a regular file was changed; regular is false for anything else.
func (d *Dir) Modified(name string) (at time.Time, regular bool, err error) {
	info, err := os.Lstat(d.in(name))
	if err != nil {
		return at, false, d.pathError("stat", name, err)
	}
	return info.ModTime(), info.Mode().IsRegular(), nil
}

// Names are the names of some files, at most n.
func (d *Dir) Names(n int) ([]string, error) {
	list, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = list.Close() }()
	return list.Readdirnames(n)
}

func groupOf(fs.FileInfo) int { return 0 }
