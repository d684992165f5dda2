//go:build unix

package registry

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestPlaces: the variable stands in place of all others.
func TestPlaces(t *testing.T) {
	uid := strconv.Itoa(os.Geteuid())
	for name, c := range map[string]struct {
		environ     map[string]string
		first, last Place
	}{
		"a login": {map[string]string{"XDG_RUNTIME_DIR": "/x"},
			Place{Path: "/x/retry", above: true}, Place{Path: "/tmp/retry-" + uid}},
		"the variable": {map[string]string{Variable: "/v", "XDG_RUNTIME_DIR": "/x"},
			Place{Path: "/v", parents: true}, Place{Path: "/v", parents: true}},
	} {
		lookup := func(name string) (string, bool) {
			value, ok := c.environ[name]
			return value, ok
		}
		if got := Places(lookup); len(got) == 0 || got[0] != c.first || got[len(got)-1] != c.last {
			t.Errorf("%s: %+v, not from %+v to %+v", name, got, c.first, c.last)
		}
	}
	if got := Places(func(name string) (string, bool) { return "", name == Variable }); got != nil {
		t.Errorf("the variable empty: %+v", got)
	}
}

// TestUse makes a directory or says why it is not used, for writers and readers.
func TestUse(t *testing.T) {
	for name, c := range map[string]struct {
		place  Place
		make   func(dir string) error
		create bool
		why    string // "" if it is used
	}{
		"a new one":            {create: true},
		"none, for a reader":   {why: "no such file"},
		"one that others read": {make: func(dir string) error { return os.Mkdir(dir, 0o755) }},
		"one that the group writes": {make: func(dir string) error { return mkdir(dir, 0o770) }, create: true,
			why: "written by others (mode 0770)"},
		"one that others write": {make: func(dir string) error { return mkdir(dir, 0o702) },
			why: "written by others (mode 0702)"},
		"a link": {make: func(dir string) error { return os.Symlink(filepath.Dir(dir), dir) },
			create: true, why: "is not a directory"},
		"a link to nothing": {make: func(dir string) error { return os.Symlink("none", dir) }, create: true,
			why: "is not a directory"},
		"a file": {make: func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, create: true,
			why: "is not a directory"},
		"a FIFO": {make: func(dir string) error { return syscall.Mkfifo(dir, 0o600) }, create: true,
			why: "is not a directory"},
		"another user's": {make: func(dir string) error { return give(dir, dir) }, create: true,
			why: "belongs to user 12345"},
		"below its own": {place: Place{above: true}, create: true},
		"below another user's": {place: Place{above: true},
			make: func(dir string) error { return give(dir, filepath.Dir(dir)) }, create: true,
			why: "belongs to user 12345"},
	} {
		t.Run(name, func(t *testing.T) {
			c.place.Path = filepath.Join(t.TempDir(), "retry")
			if c.make != nil {
				if err := c.make(c.place.Path); os.IsPermission(err) {
					t.Skip("only root gives files away")
				} else if err != nil {
					t.Fatal(err)
				}
			}
			err := c.place.use(c.create)
			if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
				t.Errorf("%v; want %q", err, c.why)
			}
			if info, statErr := os.Lstat(c.place.Path); c.make == nil && c.create &&
				(statErr != nil || info.Mode().Perm() != 0o700) {
				t.Errorf("made with mode %v, %v", info.Mode(), statErr)
			}
		})
	}
}

// mkdir makes a directory whatever the umask says.
func mkdir(dir string, mode os.FileMode) error {
	if err := os.Mkdir(dir, mode); err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// give makes dir, and gives path to another user.
func give(dir, path string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Chown(path, 12345, -1)
}

// TestUmask: the owner can read what is made, whatever the umask says.
func TestUmask(t *testing.T) {
	r := newRecord(t, true) // before the mask is set, which makes t.TempDir() unusable
	old := syscall.Umask(0o777)
	emit(r, started())
	syscall.Umask(old)
	for path, want := range map[string]os.FileMode{r.path: 0o600, filepath.Dir(r.path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}
