package xdg

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestState(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the rules are those of Unix systems")
	}
	dir := t.TempDir()
	home, locked := filepath.Join(dir, "a home"), filepath.Join(dir, "locked")
	for _, d := range []string{home, filepath.Join(locked, ".local")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "file")
	passwords := "# comment\nroot:x:0:0:root:/root:/bin/sh\nbroken:x:1000\nrel:x:1001:1::home:/bin/sh\n" +
		"ann:x:1000:1000:Ann,,,:/home/ann:/bin/sh\r\n"
	if err := os.WriteFile(file, []byte(passwords), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  map[string]string
		uid  int
		want string
	}{
		"XDG_STATE_HOME first": {map[string]string{"XDG_STATE_HOME": "/x", "HOME": home,
			"STATE_DIRECTORY": "/s"}, 1000, "/x"},
		"a relative one does not count": {map[string]string{"XDG_STATE_HOME": "x", "HOME": home}, 1000,
			home + "/.local/state"},
		"HOME before STATE_DIRECTORY": {map[string]string{"HOME": home, "STATE_DIRECTORY": "/s"}, 1000,
			home + "/.local/state"},
		"a HOME that is not there": {map[string]string{"HOME": dir + "/none", "STATE_DIRECTORY": "/s"}, 1000,
			"/s"},
		"a HOME that is a file": {map[string]string{"HOME": file, "STATE_DIRECTORY": "/s"}, 1000, "/s"},
		"one that cannot be written": {map[string]string{"HOME": locked, "STATE_DIRECTORY": "/s:/t"}, 1000,
			"/s"},
		"several of systemd's: the first":   {map[string]string{"STATE_DIRECTORY": "/s:/t"}, 1000, "/s"},
		"no variable: the password file":    {nil, 1000, "/home/ann"},
		"an empty HOME":                     {map[string]string{"HOME": "", "STATE_DIRECTORY": ""}, 1000, "/home/ann"},
		"a home that is not absolute":       {nil, 1001, ""},
		"a user that the file has not":      {nil, 4242, ""},
		"root with a HOME of another user":  {map[string]string{"HOME": home}, 0, "/root"},
		"root with STATE_DIRECTORY as well": {map[string]string{"HOME": home, "STATE_DIRECTORY": "/s"}, 0, "/s"},
	} {
		if c.uid == 0 && os.Geteuid() == 0 { // the home is root's then
			continue
		}
		p := place{
			lookup:   func(name string) (string, bool) { v, ok := c.env[name]; return v, ok },
			uid:      c.uid,
			writable: func(d string) bool { return d != filepath.Join(locked, ".local") }, passwords: file,
		}
		want := c.want
		if want == "/home/ann" || want == "/root" {
			want += "/.local/state"
		}
		got, err := p.state()
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v; not %q", name, got, err, want)
		}
	}
}

// The nearest directory that exists decides, not those above it.
func TestTheNearestDirectoryHasToBeWritable(t *testing.T) {
	home := t.TempDir()
	var asked []string
	p := place{
		lookup:   func(name string) (string, bool) { return map[string]string{"HOME": home}[name], true },
		uid:      os.Geteuid(),
		writable: func(d string) bool { asked = append(asked, d); return true },
	}
	for _, made := range []string{".", ".local", ".local/state", ".local/state/retry"} {
		if err := os.MkdirAll(filepath.Join(home, made), 0o700); err != nil {
			t.Fatal(err)
		}
		asked = nil
		if dir, err := p.state(); err != nil || dir != filepath.Join(home, ".local/state") || len(asked) != 1 ||
			asked[0] != filepath.Join(home, made) {
			t.Errorf("%s: %q, %v, asked %q", made, dir, err, asked)
		}
	}
}

func TestRuntime(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the rules are those of Unix systems")
	}
	x := RuntimeDir{"/x/retry", true}
	login := RuntimeDir{"/run/user/1000/retry", true}
	temporary := RuntimeDir{"/tmp/retry-1000", false}
	for name, c := range map[string]struct {
		uid  int
		env  map[string]string
		want []RuntimeDir
	}{
		"no variable":    {1000, nil, []RuntimeDir{login, temporary}},
		"one of its own": {1000, map[string]string{"XDG_RUNTIME_DIR": "/x"}, []RuntimeDir{x, login, temporary}},
		"the usual one, once": {1000, map[string]string{"XDG_RUNTIME_DIR": "/run/user/1000"},
			[]RuntimeDir{login, temporary}},
		"relative ones do not count": {1000, map[string]string{"XDG_RUNTIME_DIR": "x", "TMPDIR": "t"},
			[]RuntimeDir{login, temporary}},
		"temporary files": {1000, map[string]string{"TMPDIR": "/t"},
			[]RuntimeDir{login, {"/t/retry-1000", false}, temporary}},
		"root": {0, map[string]string{"XDG_RUNTIME_DIR": "/x"},
			[]RuntimeDir{x, {"/run/user/0/retry", true}, {"/run/retry", false}, {"/tmp/retry-0", false}}},
	} {
		l := Lookup(func(name string) (string, bool) { v, ok := c.env[name]; return v, ok })
		if got := l.Runtime(c.uid); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

func TestHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a path there begins with its drive")
	}
	for want, env := range map[string]map[string]string{
		"/h": {"HOME": "/h"}, "": {"HOME": "h"},
	} {
		got := Lookup(func(name string) (string, bool) { v, ok := env[name]; return v, ok }).Home()
		if got != want {
			t.Errorf("%v: %q, not %q", env, got, want)
		}
	}
}

func TestConfig(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the rules are those of Unix systems")
	}
	for want, env := range map[string]map[string]string{
		"/c":         {"XDG_CONFIG_HOME": "/c", "HOME": "/h"},
		"/h/.config": {"XDG_CONFIG_HOME": "c", "HOME": "/h"},
		"":           {},
	} {
		if got := Lookup(func(name string) (string, bool) { v, ok := env[name]; return v, ok }).Config(); got != want {
			t.Errorf("%v: %q, not %q", env, got, want)
		}
	}
}
