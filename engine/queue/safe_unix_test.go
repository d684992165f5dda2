//go:build unix

package queue

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nothing that another user could have put there is read.
func TestForeignLettersAreLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		why    string
	}{
		"a link for a letter": {func(path string) error {
			return swap(path, func(moved string) error { return os.Symlink(moved, path) })
		}, "not followed"},
		"a link for letter.json": {func(path string) error {
			file := filepath.Join(path, letterFile)
			return swap(file, func(moved string) error { return os.Symlink(moved, file) })
		}, "not followed"},
		"a FIFO for stdin": {func(path string) error {
			return syscall.Mkfifo(filepath.Join(path, stdinFile), 0o600)
		}, "not followed"},
		"a directory for a tail": {func(path string) error {
			return os.Mkdir(filepath.Join(path, stdoutTail), 0o700)
		}, "not followed"},
		"writable by the group": {func(path string) error { return os.Chmod(path, 0o770) },
			"written by others (mode 0770)"},
		"a file open to others": {func(path string) error {
			return os.Chmod(filepath.Join(path, letterFile), 0o602)
		}, "written by others (mode 0602)"},
		"another user's": {func(path string) error { return os.Chown(path, 12345, -1) },
			"belongs to user 12345"},
		"a file of another user's": {func(path string) error {
			return os.Chown(filepath.Join(path, letterFile), 12345, -1)
		}, "belongs to user 12345"},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDir(t)
			add(t, d, sample(), Content{})
			if err := c.change(d.in(sampleID, "")); os.IsPermission(err) {
				t.Skip("only root gives files away")
			} else if err != nil {
				t.Fatal(err)
			}
			e := one(t, d)
			if e.Usable() || !e.Foreign || e.Letter != nil || !strings.Contains(e.Problem.Error(), c.why) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// swap moves a file away and has another put in its place.
func swap(path string, put func(moved string) error) error {
	moved := path + ".moved"
	if err := os.Rename(path, moved); err != nil {
		return err
	}
	return put(moved)
}

func TestForeignDirectoryIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	for path, change := range map[string]func(string) error{
		filepath.Join(dir, "open"):  func(path string) error { return os.Chmod(path, 0o770) },
		filepath.Join(dir, "other"): func(path string) error { return os.Chown(path, 12345, -1) },
	} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := change(path); os.IsPermission(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, true); err == nil {
			t.Errorf("%s is used", path)
		}
	}
}

// The files are the user's alone, whatever the umask is.
func TestModes(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "a") // before the mask is set, which makes it unusable
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	old := syscall.Umask(0o277)
	defer syscall.Umask(old)
	d, err := Open(filepath.Join(parent, "letters"), true)
	if err != nil {
		t.Fatal(err)
	}
	add(t, d, sample(), Content{Stdin: strings.NewReader("in")})
	for path, want := range map[string]os.FileMode{d.path: 0o700, d.in(sampleID, ""): 0o700,
		d.in(sampleID, letterFile): 0o600, d.in(sampleID, stdinFile): 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}
