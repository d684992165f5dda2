// Package xdg says where a user's files are kept, by the XDG Base Directory Specification: a
// variable counts if it is an absolute path.
package xdg

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Lookup reads a variable, as os.LookupEnv does.
type Lookup func(name string) (string, bool)

// Dir is the path in a variable, "" for none.
func (l Lookup) Dir(variable string) string {
	if dir, _ := l(variable); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// Config is the directory of the user's settings, "" for none.
func (l Lookup) Config() string {
	if dir := l.Dir("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	if runtime.GOOS == "windows" {
		return l.Dir("AppData")
	}
	if home := l.Dir("HOME"); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}

// HostConfig is the directory of the host's settings, "" for none.
func (l Lookup) HostConfig() string {
	if runtime.GOOS == "windows" {
		return l.Dir("ProgramData")
	}
	return "/etc"
}

// Home is the user's home directory, "" for none.
func (l Lookup) Home() string {
	if runtime.GOOS == "windows" {
		return l.Dir("USERPROFILE")
	}
	return l.Dir("HOME")
}

// RuntimeDir may hold the program's files while it runs.
type RuntimeDir struct {
	Path string
	// OfLogin says that the system makes the directory above when the user logs in.
	OfLogin bool
}

// Runtime are such directories, the best first: those of a login, by XDG_RUNTIME_DIR and as
// systemd has them; for root, that of the system; those of temporary files.
func (l Lookup) Runtime(uid int) []RuntimeDir {
	user, root := strconv.Itoa(uid), ""
	if uid == 0 {
		root = "/run/retry"
	}
	candidates := []RuntimeDir{
		{Path: l.below("XDG_RUNTIME_DIR", "retry"), OfLogin: true},
		{Path: "/run/user/" + user + "/retry", OfLogin: true},
		{Path: root},
		{Path: l.below("TMPDIR", "retry-"+user)},
		{Path: "/tmp/retry-" + user},
	}
	if runtime.GOOS == "windows" {
		candidates = []RuntimeDir{{Path: l.below("LocalAppData", filepath.Join("retry", "run"))}}
	}
	var all []RuntimeDir
	for _, dir := range candidates {
		known := slices.ContainsFunc(all, func(other RuntimeDir) bool { return other.Path == dir.Path })
		if dir.Path != "" && !known {
			all = append(all, dir)
		}
	}
	return all
}

// below is a name in the directory of a variable, "" for none.
func (l Lookup) below(variable, name string) string {
	dir := l.Dir(variable)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// State is a name below the program's directory for the user's state: that of XDG_STATE_HOME;
// else that in HOME, if the user can write there; else that of STATE_DIRECTORY, which systemd
// sets; else that in the home of the password file. It fails if there is none. It makes nothing.
func State(name string) (string, error) {
	system := place{lookup: os.LookupEnv, uid: os.Geteuid(), writable: writable, passwords: "/etc/passwd"}
	dir, err := system.state()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "retry", name), nil
}

// place is the system of a user.
type place struct {
	lookup Lookup
	uid    int
	// writable reports whether the user can write a directory, passwords is the password file.
	writable  func(dir string) bool
	passwords string
}

func (p *place) state() (string, error) {
	if dir := p.lookup.Dir("XDG_STATE_HOME"); dir != "" {
		return dir, nil
	}
	if home := p.lookup.Dir("HOME"); home != "" && p.usable(home) {
		return filepath.Join(home, ".local", "state"), nil
	}
	if runtime.GOOS == "windows" {
		if dir := p.lookup.Dir("LocalAppData"); dir != "" {
			return dir, nil
		}
	}
	first, _ := p.lookup("STATE_DIRECTORY")
	first, _, _ = strings.Cut(first, ":")
	if filepath.IsAbs(first) {
		return first, nil
	}
	if home := homeOf(p.passwords, p.uid); home != "" {
		return filepath.Join(home, ".local", "state"), nil
	}
	return "", fmt.Errorf("there is no directory for the state: HOME is not set or cannot be written, "+
		"user %d has no home, and neither XDG_STATE_HOME nor STATE_DIRECTORY is set", p.uid)
}

// usable reports whether the state can be in a home. The home has to exist, and to be root's if
// the user is root. The nearest directory of the state's path that exists has to be writable.
func (p *place) usable(home string) bool {
	info, err := os.Stat(home)
	if err != nil || !info.IsDir() || p.uid == 0 && ownerOf(info) != 0 {
		return false
	}
	for _, dir := range []string{".local/state/retry", ".local/state", ".local", "."} {
		dir = filepath.Join(home, dir)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return p.writable(dir)
		}
	}
	return false
}

// mostPasswords bounds what is read of the password file.
const mostPasswords = 1 << 20

// homeOf is the home of a user by the password file (passwd(5)), "" for none.
func homeOf(passwords string, uid int) string {
	f, err := os.Open(passwords)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.LimitReader(f, mostPasswords))
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(fields) >= 7 && fields[2] == fmt.Sprint(uid) && filepath.IsAbs(fields[5]) {
			return fields[5]
		}
	}
	return ""
}
