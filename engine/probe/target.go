package probe

// This file reads what --wait-for takes: one target, read and checked as a whole, so that a
// slip in it is a usage error and not a wait of a minute.

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/retrysh/retry/engine/address"
	"github.com/retrysh/retry/engine/text"
)

// Target is one thing to wait for.
type Target struct {
	text  string
	check check
}

// String returns the target as it was typed, with its secrets masked: a password, the
// values of a query and of headers.
func (t *Target) String() string { return t.text }

// IsCommand reports whether s is a target that is a command to run.
func IsCommand(s string) bool { return kindOf(s) == "exec" }

// LooksLike reports whether a word is meant for a target: it begins as one.
func LooksLike(word string) bool { return kindOf(word) != "" }

// File returns the path of a file:// target, "" for any other.
func (t *Target) File() string {
	if c, ok := t.check.(*fileCheck); ok {
		return c.path
	}
	return ""
}

// IsProcess reports whether it is a pid: target.
func (t *Target) IsProcess() bool {
	_, is := t.check.(*pidCheck)
	return is
}

// maxTarget bounds a target that is an address, in bytes: twice what every
// web server takes for one (RFC 9110, section 4.1), for its headers.
const maxTarget = 16 << 10

// forms lists the valid targets, for messages.
const forms = "tcp://host:port, http://host/, https://host/, http+unix:///path.sock:/, unix:///path, file:///path, " +
	"dns://name, postgres://host:port, redis://host:port, mysql://host:port, pid:N or exec:command"

// Parse reads a target of one of the forms in docs/targets.md. An error names what was
// typed and what would be valid.
func Parse(s string) (*Target, error) {
	c, err := parse(s)
	if err != nil {
		return nil, fmt.Errorf("bad target %s: %w", text.Quote(text.MaskedAddress(s)), err)
	}
	return &Target{text: text.MaskedAddress(s), check: c}, nil
}

// UnmarshalText is Parse.
func (t *Target) UnmarshalText(text []byte) error {
	target, err := Parse(string(text))
	if err == nil {
		*t = *target
	}
	return err
}

// kindOf returns which kind of target s begins as, in small letters, "" for none.
func kindOf(s string) string {
	for _, kind := range []string{"exec", "pid"} {
		if _, ok := cutPrefixFold(s, kind+":"); ok {
			return kind
		}
	}
	scheme, _, ok := strings.Cut(s, "://")
	switch scheme = strings.ToLower(scheme); scheme {
	case "tcp", "http", "https", "http+unix", "unix", "file", "dns", "postgres", "postgresql", "redis", "mysql":
		if ok {
			return scheme
		}
	}
	return ""
}

func parse(s string) (check, error) {
	kind := kindOf(s)
	if kind == "exec" {
		return parseExec(s[len("exec:"):])
	}
	if first, second, ok := twoTargets(s); ok {
		return nil, &TwoTargets{text.MaskedAddress(first), text.MaskedAddress(second)}
	}
	if kind == "pid" {
		return parsePID(s[len("pid:"):])
	}
	if len(s) > maxTarget {
		return nil, fmt.Errorf("it has %d bytes; an address has at most %d", len(s), maxTarget)
	}
	scheme, rest, isAddress := strings.Cut(s, "://")
	switch {
	case !isAddress:
		return nil, errors.New(withoutScheme(s))
	case kind == "":
		return nil, fmt.Errorf("%s is not a kind of target; valid are %s",
			text.Quote(text.MaskedAddress(strings.ToLower(scheme))), forms)
	}
	switch kind {
	case "tcp":
		return parseTCP(rest)
	case "http", "https":
		return parseHTTP(rest, kind == "https")
	case "http+unix":
		return parseHTTPUnix(rest)
	case "unix":
		path, err := parseSocket(rest, "unix:///path")
		return &endpoint{socket: path}, err
	case "file":
		path, err := parsePath(rest, "file:///path")
		return &fileCheck{path: path}, err
	case "dns":
		return parseDNS(rest)
	}
	return parseServer(rest, kind)
}

// TwoTargets is the error about two targets in the place of one.
type TwoTargets struct{ First, Second string }

func (*TwoTargets) Error() string { return "this is two targets" }

// twoTargets parts what was meant for two targets: what follows a comma or a blank begins as
// one, or a comma parts two ports.
func twoTargets(s string) (first, second string, ok bool) {
	for i, c := range s {
		if c != ',' && c != ' ' {
			continue
		}
		first, second = strings.TrimRight(s[:i], ", "), strings.TrimLeft(s[i+1:], ", ")
		if LooksLike(second) {
			return first, second, true
		}
		port, isTCP := strings.CutPrefix(first, "tcp://")
		if (isTCP || !strings.Contains(s, "/")) && isPort(port) && isPort(second) {
			return "tcp://" + port, "tcp://" + second, true
		}
	}
	return "", "", false
}

// isPort reports whether s is host:port.
func isPort(s string) bool {
	host, port, err := address.HostPort(s)
	return err == nil && host != "" && port != ""
}

// withoutScheme says what a target without a scheme may have been meant for.
func withoutScheme(s string) string {
	what, form := "", ""
	switch host, port, _ := strings.Cut(s, ":"); {
	case address.CheckHost(host) == nil && address.CheckPort(port) == nil:
		what, form = "a port", "tcp://"+s
	case strings.HasPrefix(s, "/"):
		what, form = "a file", "file://"+s
	case strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"):
		what, form = "a file", "file://$PWD/"+strings.TrimPrefix(s, "./")
	case address.CheckPort(s) == nil:
		what, form = "a port of this machine", "tcp://localhost:"+s
	case s != "" && address.CheckHost(s) == nil && !strings.Contains(s, ":"):
		what, form = "a port of this host", "tcp://"+s+":PORT"
	default:
		return "valid are " + forms
	}
	return "it names no kind; for " + what + " write " + text.Quote(form)
}

func parseTCP(s string) (check, error) {
	user, authority, rest, err := address.SplitUser(s)
	switch {
	case user != "" || err != nil:
		return nil, errors.New("no user goes with a port; valid is tcp://host:port")
	case rest != "":
		return nil, fmt.Errorf("nothing goes behind the port, not %s; valid is tcp://host:port",
			text.Quote(text.MaskedAddress(rest)))
	}
	host, port, err := address.HostPort(authority)
	if err != nil {
		return nil, err
	}
	if port == "" {
		return nil, errors.New("the port is missing; valid is tcp://host:port")
	}
	return &endpoint{host: host, port: port}, nil
}

func parseDNS(s string) (check, error) {
	if i := strings.IndexAny(s, "/?#@:[]"); i >= 0 {
		return nil, fmt.Errorf("%q is not part of a name; valid is dns://name", s[i:i+1])
	}
	if err := address.CheckHost(s); err != nil {
		return nil, err
	}
	return &dnsCheck{name: s}, nil
}

// parseSocket reads the path of a socket.
func parseSocket(s, valid string) (string, error) {
	path, err := parsePath(s, valid)
	// The kernel's limit for a socket's address, its closing NUL included.
	most := len(syscall.RawSockaddrUnix{}.Path) - 1
	switch {
	case err != nil:
		return "", err
	case strings.Trim(path, `/\`) == "":
		return "", fmt.Errorf("the path is missing; valid is %s", valid)
	case len(path) > most:
		return "", fmt.Errorf("the path has %d bytes; a socket's has at most %d", len(path), most)
	}
	return path, nil
}

// parsePath reads the /path behind unix:// and file://.
func parsePath(s, valid string) (string, error) {
	// RFC 8089, section 2: a file URL may name localhost.
	if rest, ok := cutPrefixFold(s, "localhost/"); ok {
		s = "/" + rest
	}
	scheme, _, _ := strings.Cut(valid, "://")
	switch i := strings.IndexAny(s, "?#"); {
	case address.HasDrive(s):
		return "", fmt.Errorf("a path begins with a slash; write %s:///%s", scheme, strings.ReplaceAll(s, `\`, "/"))
	case s == "":
		return "", fmt.Errorf("the path is missing; valid is %s", valid)
	case !strings.HasPrefix(s, "/"):
		return "", fmt.Errorf("%s is not an absolute path; valid is %s", text.Quote(text.MaskedAddress(s)), valid)
	case i >= 0:
		return "", fmt.Errorf("%s:// takes no options; a %q in a path is written %s", scheme, s[i:i+1],
			address.Escape(s[i]))
	}
	path, err := unescape(s, "path")
	return address.Local(path), err
}

func parseExec(command string) (check, error) {
	switch {
	case strings.TrimSpace(command) == "":
		return nil, errors.New("the command is missing; valid is exec:shell command")
	case strings.HasPrefix(command, "//"):
		return nil, errors.New("no // goes before the command; valid is exec:shell command")
	case strings.IndexByte(command, 0) >= 0:
		return nil, errors.New("a command cannot hold a NUL")
	}
	return &execCheck{command: command}, nil
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
