package probe

// What --wait-for takes: one target, read and checked as a whole, so that a
// slip in it is a usage error and not a wait of a minute.

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
)

// Target is one thing to wait for.
type Target struct {
	text  string
	check check
}

// String returns the target as it was typed, but for a password in it, which
// is shown as xxxxx since the text goes to logs.
func (t *Target) String() string { return t.text }

// forms lists the valid targets, for messages.
const forms = "tcp://host:port, http://host/, https://host/, unix:///path, file:///path, dns://name or exec:command"

// Parse reads a target:
//
//	tcp://host:port      ready when it accepts a connection
//	http://host/path     ready when it answers 2xx; https:// likewise
//	unix:///path         ready when the (stream) socket accepts a connection
//	file:///path         ready when the file exists, whatever it is
//	dns://name           ready when the name has an address
//	exec:shell command   ready when the command exits 0
//
// Behind http:// and https:// addresses, options follow after '#', joined by
// '&': status=200-399,404 (the statuses that are ready), body=REGEX (the body,
// read whole or to its first MiB, must match as well), insecure (https only:
// any certificate will do). user:password@ before the host is sent as Basic
// authentication. In paths, options and user:password, %XX stands for a byte,
// as in any URL; an IPv6 address goes in brackets. An error names what was
// typed and what would be valid.
func Parse(s string) (*Target, error) {
	c, err := parse(s)
	if err != nil {
		return nil, fmt.Errorf("bad target %q: %w", masked(s), err)
	}
	return &Target{text: masked(s), check: c}, nil
}

func parse(s string) (check, error) {
	if command, ok := cutPrefixFold(s, "exec:"); ok {
		return parseExec(command)
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return nil, errors.New(withoutScheme(s))
	}
	switch strings.ToLower(scheme) {
	case "tcp":
		return parseTCP(rest)
	case "http":
		return parseHTTP(rest, false)
	case "https":
		return parseHTTP(rest, true)
	case "unix":
		return parseUnix(rest)
	case "file":
		return parseFile(rest)
	case "dns":
		return parseDNS(rest)
	}
	return nil, fmt.Errorf("%q is no kind of target; valid are %s", scheme, forms)
}

// withoutScheme says what a target without a scheme may have been meant for.
func withoutScheme(s string) string {
	if host, port, ok := strings.Cut(s, ":"); ok && checkHost(host) == nil && checkPort(port) == nil {
		return "it names no kind; for a port write " + strconv.Quote("tcp://"+s)
	}
	if strings.HasPrefix(s, "/") {
		return "it names no kind; for a file write " + strconv.Quote("file://"+s)
	}
	return "valid are " + forms
}

func parseTCP(s string) (check, error) {
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return nil, fmt.Errorf("nothing goes behind the port, not %q; valid is tcp://host:port", s[i:])
	}
	if strings.Contains(s, "@") {
		return nil, errors.New("no user goes with a port; valid is tcp://host:port")
	}
	host, port, err := hostPort(s)
	if err != nil {
		return nil, err
	}
	if port == "" {
		return nil, errors.New("the port is missing; valid is tcp://host:port")
	}
	return &tcpCheck{host: host, port: port}, nil
}

func parseDNS(s string) (check, error) {
	if i := strings.IndexAny(s, "/?#@:[]"); i >= 0 {
		return nil, fmt.Errorf("%q is no part of a name; valid is dns://name", s[i:i+1])
	}
	if err := checkHost(s); err != nil {
		return nil, err
	}
	return &dnsCheck{name: s}, nil
}

func parseUnix(s string) (check, error) {
	path, err := parsePath(s, "unix")
	if err != nil {
		return nil, err
	}
	// The kernel's limit for a socket's address, its closing NUL included.
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return nil, fmt.Errorf("the path has %d bytes; a socket's has at most %d", len(path), most)
	}
	return &unixCheck{path: path}, nil
}

func parseFile(s string) (check, error) {
	path, err := parsePath(s, "file")
	if err != nil {
		return nil, err
	}
	return &fileCheck{path: path}, nil
}

// parsePath reads the /path behind unix:// and file://.
func parsePath(s, scheme string) (string, error) {
	// RFC 8089, section 2: a file URL may name localhost.
	if rest, ok := cutPrefixFold(s, "localhost/"); ok {
		s = "/" + rest
	}
	if s == "" {
		return "", fmt.Errorf("the path is missing; valid is %s:///path", scheme)
	}
	if !strings.HasPrefix(s, "/") {
		return "", fmt.Errorf("%q is no absolute path; valid is %s:///path", s, scheme)
	}
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		return "", fmt.Errorf("%s:// takes no options; a %q in a path is written %s", scheme, s[i:i+1], escapeByte(s[i]))
	}
	path, err := unescape(s)
	if err != nil {
		return "", err
	}
	if strings.IndexByte(path, 0) >= 0 {
		return "", errors.New("a path cannot hold a NUL")
	}
	if strings.Trim(path, "/") == "" && scheme == "unix" {
		return "", errors.New("the path is missing; valid is unix:///path")
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

// hostPort splits host:port, where the port may be missing ("") and an IPv6
// address is in brackets. The host comes back without them.
func hostPort(s string) (host, port string, err error) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		return bracketed(rest)
	}
	if strings.Count(s, ":") > 1 {
		return "", "", fmt.Errorf("%q: an IPv6 address goes in brackets, as in [::1]:80", s)
	}
	host, port, colon := strings.Cut(s, ":")
	if err := checkHost(host); err != nil {
		return "", "", err
	}
	if colon {
		err = checkPort(port)
	}
	return host, port, err
}

// bracketed reads what follows the opening bracket of an IPv6 address. A zone
// may be written as in a URL (%25eth0, RFC 6874) or as everywhere else (%eth0).
func bracketed(s string) (host, port string, err error) {
	inside, rest, ok := strings.Cut(s, "]")
	if !ok {
		return "", "", errors.New("the closing bracket of the IPv6 address is missing, as in [::1]:80")
	}
	if literal, zone, found := strings.Cut(inside, "%25"); found && zone != "" {
		inside = literal + "%" + zone
	}
	addr, err := netip.ParseAddr(inside)
	if err != nil || !addr.Is6() {
		return "", "", fmt.Errorf("%q is no IPv6 address", inside)
	}
	if rest == "" {
		return inside, "", nil
	}
	port, ok = strings.CutPrefix(rest, ":")
	if !ok {
		return "", "", fmt.Errorf("%q cannot follow the brackets; valid is [address]:port", rest)
	}
	return inside, port, checkPort(port)
}

// checkPort refuses what is no TCP port.
func checkPort(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 || s[0] == '+' {
		return fmt.Errorf("bad port %q: valid are 1 to 65535", s)
	}
	return nil
}

// checkHost refuses what can be neither an IPv4 address nor a name: a name has
// at most 253 bytes in labels of 1 to 63 (RFC 1035, section 2.3.4), a final
// dot aside; underscores are not in the RFC but in use.
func checkHost(s string) error {
	if s == "" {
		return errors.New("the host is missing")
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return nil
	}
	name := strings.TrimSuffix(s, ".")
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if err := checkLabel(label); err != nil {
			return fmt.Errorf("bad host %q: %w", s, err)
		}
	}
	if len(name) > 253 {
		return fmt.Errorf("bad host %q: a name has at most 253 bytes", s)
	}
	// No top-level domain is a number: it is an address with a slip in it.
	if n := len(labels); n > 1 && strings.Trim(labels[n-1], "0123456789") == "" {
		return fmt.Errorf("bad host %q: no IPv4 address", s)
	}
	return nil
}

func checkLabel(s string) error {
	if s == "" {
		return errors.New("an empty part between its dots")
	}
	if len(s) > 63 {
		return errors.New("a part between dots has at most 63 bytes")
	}
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
		case r >= 0x80:
			return errors.New("write a name in another script in its ASCII form, which begins with xn--")
		default:
			return fmt.Errorf("%q cannot be in a name", r)
		}
	}
	return nil
}

// unescape replaces %XX by the byte it stands for (RFC 3986, section 2.1).
func unescape(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if err := checkEscape(s[i:]); err != nil {
			return "", err
		}
		b, _ := strconv.ParseUint(s[i+1:i+3], 16, 8)
		out = append(out, byte(b))
		i += 2
	}
	return string(out), nil
}

// checkEscape refuses a string that starts with '%' but not with %XX.
func checkEscape(s string) error {
	if len(s) >= 3 && isHex(s[1]) && isHex(s[2]) {
		return nil
	}
	return fmt.Errorf("bad escape %q: two hexadecimal digits follow a %%, and a %% itself is written %%25", s[:min(3, len(s))])
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

func escapeByte(b byte) string { return fmt.Sprintf("%%%02X", b) }

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// masked returns s with a password before the host shown as xxxxx. A slash in it
// should have been written %2F: then it looks like the host and a port.
func masked(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || strings.ContainsAny(scheme, ": ") {
		return s
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if _, port, ok := strings.Cut(rest[:end], ":"); at < 0 && ok && !strings.HasPrefix(rest, "[") && strings.Trim(port, "0123456789") != "" {
		at = strings.LastIndexByte(rest, '@')
	}
	if at < 0 {
		return s
	}
	user, _, ok := strings.Cut(rest[:at], ":")
	if !ok {
		return s
	}
	return scheme + "://" + user + ":xxxxx" + rest[at:]
}
