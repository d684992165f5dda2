package probe

// This file reads what --wait-for takes: one target, read and checked as a whole, so that a
// slip in it is a usage error and not a wait of a minute.

import (
	"errors"
	"fmt"
	"strconv"
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

// String returns the target as it was typed, but for the secrets in it (a
// password, the values of a query and of headers), which are shown as xxxxx
// since the text goes to logs.
func (t *Target) String() string { return t.text }

// IsCommand reports whether the target is a command to run (exec:).
func (t *Target) IsCommand() bool { return IsCommand(t.text) }

// IsCommand reports whether s is a target that is a command to run.
func IsCommand(s string) bool {
	kind, ok := kindOf(s)
	return ok && kind == "exec"
}

// File returns the path of a file:// target, "" for any other.
func (t *Target) File() string {
	if c, ok := t.check.(*fileCheck); ok {
		return c.path
	}
	return ""
}

// maxTarget bounds a target that is an address, in bytes: twice what every
// web server takes for one (RFC 9110, section 4.1), for its headers.
const maxTarget = 16 << 10

// forms lists the valid targets, for messages.
const forms = "tcp://host:port, http://host/, https://host/, http+unix:///path.sock:/, unix:///path, file:///path, dns://name, postgres://host:port, redis://host:port, mysql://host:port or exec:command"

// Parse reads a target:
//
//	tcp://host:port              ready when it accepts a connection
//	http://host/path             ready when it answers 2xx; https:// likewise
//	http+unix:///path.sock:/path the same through a socket
//	unix:///path                 ready when the (stream) socket accepts a connection
//	file:///path                 ready when the file exists, whatever it is
//	dns://name                   ready when the name has an address
//	postgres://host:port         ready when a database server takes connections;
//	                             redis:// and mysql:// likewise
//	exec:shell command           ready when the command exits 0
//
// Behind http addresses, options follow after '#', joined by '&':
// status=200-399,404 (the statuses that are ready), body=REGEX (the body,
// read whole or to its first MiB, must match as well), method=HEAD,
// header=Name: value (repeatable), insecure (https only: any certificate will
// do). user:password@ before the host is sent as Basic authentication. In
// paths, options and user:password, %XX stands for a byte, as in any URL; an
// IPv6 address goes in brackets. An error names what was typed and what would
// be valid.
func Parse(s string) (*Target, error) {
	c, err := parse(s)
	if err != nil {
		return nil, fmt.Errorf("bad target %s: %w", text.Quote(text.MaskedAddress(s)), err)
	}
	return &Target{text: text.MaskedAddress(s), check: c}, nil
}

// LooksLike reports whether a word is meant for a target: it begins as one.
func LooksLike(word string) bool {
	_, ok := kindOf(word)
	return ok
}

// kindOf returns which kind of target s begins as, in small letters.
func kindOf(s string) (string, bool) {
	if _, ok := cutPrefixFold(s, "exec:"); ok {
		return "exec", true
	}
	scheme, _, ok := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	switch scheme {
	case "tcp", "http", "https", "http+unix", "unix", "file", "dns", "postgres", "postgresql", "redis", "mysql":
		return scheme, ok
	}
	return scheme, false
}

func parse(s string) (check, error) {
	kind, ok := kindOf(s)
	if ok && kind == "exec" {
		return parseExec(s[len("exec:"):])
	}
	if len(s) > maxTarget {
		return nil, fmt.Errorf("it has %d bytes; an address has at most %d", len(s), maxTarget)
	}
	_, rest, isAddress := strings.Cut(s, "://")
	switch {
	case !isAddress:
		return nil, errors.New(withoutScheme(s))
	case !ok:
		return nil, fmt.Errorf("%s is not a kind of target; valid are %s", text.Quote(text.MaskedAddress(kind)), forms)
	}
	switch kind {
	case "tcp":
		return parseTCP(rest)
	case "http", "https":
		return parseHTTP(rest, kind == "https")
	case "http+unix":
		return parseHTTPUnix(rest)
	case "unix":
		return parseUnix(rest)
	case "file":
		return parseFile(rest)
	case "dns":
		return parseDNS(rest)
	}
	return parseServer(rest, kind)
}

// withoutScheme says what a target without a scheme may have been meant for.
func withoutScheme(s string) string {
	if host, port, ok := strings.Cut(s, ":"); ok && address.CheckHost(host) == nil && address.CheckPort(port) == nil {
		return "it names no kind; for a port write " + strconv.Quote("tcp://"+s)
	}
	switch {
	case strings.HasPrefix(s, "/"):
		return "it names no kind; for a file write " + text.Quote("file://"+s)
	case strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"):
		return "it names no kind; for a file write " + text.Quote("file://$PWD/"+strings.TrimPrefix(s, "./"))
	case address.CheckPort(s) == nil:
		return "it names no kind; for a port of this machine write " + strconv.Quote("tcp://localhost:"+s)
	case s != "" && address.CheckHost(s) == nil && !strings.Contains(s, ":"):
		return "it names no kind; for a port of this host write " + strconv.Quote("tcp://"+s+":PORT")
	}
	return "valid are " + forms
}

func parseTCP(s string) (check, error) {
	if address.UserEnd(s) >= 0 {
		return nil, errors.New("no user goes with a port; valid is tcp://host:port")
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return nil, fmt.Errorf("nothing goes behind the port, not %s; valid is tcp://host:port", text.Quote(text.MaskedAddress(s[i:])))
	}
	host, port, err := address.HostPort(s)
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

func parseUnix(s string) (check, error) {
	path, err := parsePath(s, "unix:///path")
	if err == nil {
		err = checkSocket(path, "unix:///path")
	}
	if err != nil {
		return nil, err
	}
	return &endpoint{socket: path}, nil
}

// checkSocket refuses a path that no socket can have.
func checkSocket(path, valid string) error {
	if strings.Trim(path, `/\`) == "" {
		return fmt.Errorf("the path is missing; valid is %s", valid)
	}
	// The kernel's limit for a socket's address, its closing NUL included.
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return fmt.Errorf("the path has %d bytes; a socket's has at most %d", len(path), most)
	}
	return nil
}

func parseFile(s string) (check, error) {
	path, err := parsePath(s, "file:///path")
	if err != nil {
		return nil, err
	}
	return &fileCheck{path: path}, nil
}

// parsePath reads the /path behind unix:// and file://.
func parsePath(s, valid string) (string, error) {
	scheme, _, _ := strings.Cut(valid, "://")
	// RFC 8089, section 2: a file URL may name localhost.
	if rest, ok := cutPrefixFold(s, "localhost/"); ok {
		s = "/" + rest
	}
	if s == "" {
		return "", fmt.Errorf("the path is missing; valid is %s", valid)
	}
	if !strings.HasPrefix(s, "/") {
		return "", fmt.Errorf("%s is not an absolute path; valid is %s", text.Quote(text.MaskedAddress(s)), valid)
	}
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		return "", fmt.Errorf("%s:// takes no options; a %q in a path is written %s", scheme, s[i:i+1], address.Escape(s[i]))
	}
	path, err := address.Unescape(s)
	if err != nil {
		return "", err
	}
	if strings.IndexByte(path, 0) >= 0 {
		return "", errors.New("a path cannot hold a NUL")
	}
	return localPath(path), nil
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
