package history

// This file appends lines to a history file. Any number of runs may end at once:
// each line is one write with O_APPEND, and is never mixed with another one. A large
// file is renamed under a lock on it. A process that opened it before writes to the
// renamed file, which is read as well.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/xdg"
)

const (
	fileMode    = 0o600
	dirMode     = 0o700
	largestFile = 16 << 20
	olderFiles  = 3 // FILE.1 is the youngest of them
)

// lockLimit is how long a lock is waited for.
const lockLimit = 250 * time.Millisecond

// Path is the file that --history stands for: "on", "off" and "" are that in the
// user's state directory, and own is true.
func Path(value string) (path string, own bool, err error) {
	if value != "" && value != "on" && value != "off" {
		return value, false, nil
	}
	if path, err = xdg.State("history.jsonl"); err != nil {
		return "", true, fmt.Errorf("there is no home directory for a history: %w; --history FILE names another file",
			err)
	}
	return path, true, nil
}

// Append adds a line to the file that a value of --history stands for, made with
// its directories if it is missing.
func Append(value string, line []byte) error {
	path, own, err := Path(value)
	if err != nil {
		return err
	}
	if own {
		if err := ownDirectory(filepath.Dir(path)); err != nil {
			return err
		}
	}
	f, size, err := openCurrent(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if onNetwork(f) {
		// There a write with O_APPEND is no single step (open(2)).
		if err := lock(f); err != nil {
			return fmt.Errorf("%q: %w", path, err)
		}
		if info, err := f.Stat(); err == nil {
			size = info.Size()
		}
	}
	if size > 0 {
		last := make([]byte, 1)
		if n, err := f.ReadAt(last, size-1); err == nil && n == 1 && last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = f.Write(line)
	return err
}

// openCurrent opens the file. A large one is renamed first.
func openCurrent(path string) (*os.File, int64, error) {
	for tries := 0; ; tries++ {
		f, size, err := openAppend(path)
		if err != nil || size <= largestFile || tries > olderFiles {
			return f, size, err
		}
		if !rotate(path, f) {
			return f, size, nil
		}
		_ = f.Close()
	}
}

// openAppend opens the file, made with its directory if it is missing.
func openAppend(path string) (*os.File, int64, error) {
	const flags = os.O_RDWR | os.O_APPEND | os.O_CREATE
	f, info, err := lockedfile.OpenRegular(path, flags, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), dirMode); err == nil {
			f, info, err = lockedfile.OpenRegular(path, flags, fileMode)
		}
	}
	if err == nil {
		err = planted(path, info)
	}
	if err != nil {
		_ = f.Close() // of nil as well
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// planted returns an error for a file of another user in a directory that all users may
// write: that user would read which commands run here.
func planted(path string, info fs.FileInfo) error {
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil || dir.Mode().Perm()&0o002 == 0 || runtime.GOOS == "windows" {
		return nil
	}
	if err := lockedfile.OwnedBy(info, os.Geteuid()); err != nil {
		return fmt.Errorf("%q %w, and lies in a directory that all users may write", path, err)
	}
	return nil
}

// rotate renames a large file, unless it is behind a symbolic link or cannot be
// renamed. It reports whether path may name another file now.
func rotate(path string, f *os.File) bool {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return err != nil
	}
	if lock(f) != nil {
		return false
	}
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	if current, err := os.Lstat(path); err != nil || !os.SameFile(opened, current) {
		return true // by another run
	}
	for n := olderFiles - 1; n > 0; n-- {
		_ = os.Rename(older(path, n), older(path, n+1))
	}
	return rename(f, path, older(path, 1))
}

// older is the name of the n-th older file.
func older(path string, n int) string { return fmt.Sprintf("%s.%d", path, n) }

// lock locks a file for this process, until it is closed, or fails after some time.
func lock(f *os.File) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	return lockedfile.FromFile(f).Lock(ctx)
}

// ownDirectory returns an error if the directory, or the last one on the way to
// it that is there, is another user's: sudo leaves HOME at that of its caller. One of
// root's may be written by all, such as /tmp.
func ownDirectory(dir string) error {
	for {
		info, err := os.Stat(dir)
		switch parent := filepath.Dir(dir); {
		case err == nil:
			err = lockedfile.OwnedBy(info, os.Geteuid())
			if err == nil || lockedfile.OwnedBy(info, 0) == nil {
				return nil
			}
			return fmt.Errorf("%q %w; nothing is made there; --history FILE names another file", dir, err)
		case !errors.Is(err, fs.ErrNotExist) || parent == dir:
			return err
		default:
			dir = parent
		}
	}
}
