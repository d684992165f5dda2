// Package address reads the parts of addresses: users, hosts, ports and escapes
// (RFC 3986). Its errors never quote what may be a password, as those of net/url do.
package address

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/text"
)

const digits = "0123456789"

// SplitUser splits an address into user[:password], "" for none, host and port, and the
// rest from the first slash, '?' or '#' on.
func SplitUser(s string) (user, authority, path string, err error) {
	authority = s
	if end := strings.IndexAny(s, "/?#"); end >= 0 {
		authority, path = s[:end], s[end:]
	}
	if at := strings.LastIndexByte(authority, '@'); at > 0 {
		return authority[:at], authority[at+1:], path, nil
	} else if at == 0 {
		return "", "", "", errors.New("the user before the @ is missing")
	}
	// A password with a slash, '?' or '#' looks like a port that is not a number.
	_, port, _ := strings.Cut(authority, ":")
	if !strings.HasPrefix(authority, "[") && strings.Trim(port, digits) != "" && strings.Contains(path, "@") {
		return "", "", "", fmt.Errorf("a %q before the @ is written %s", path[:1], Escape(path[0]))
	}
	return "", authority, path, nil
}

// HostPort splits host:port. The port may be missing (""). An IPv6 address is in brackets,
// which it removes.
func HostPort(s string) (host, port string, err error) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		return bracketed(rest)
	}
	if strings.Count(s, ":") > 1 {
		return "", "", errors.New("an IPv6 address goes in brackets, as in [::1]:80")
	}
	host, port, colon := strings.Cut(s, ":")
	if err := CheckHost(host); err != nil {
		return "", "", err
	}
	if colon {
		err = CheckPort(port)
	}
	return host, port, err
}

// bracketed reads an IPv6 address behind its opening bracket. A zone is written as in a URL
// (%25eth0, RFC 6874) or as everywhere else (%eth0).
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
		return "", "", fmt.Errorf("%s is not an IPv6 address", text.Quote(inside))
	}
	if rest == "" {
		return inside, "", nil
	}
	port, ok = strings.CutPrefix(rest, ":")
	if !ok {
		return "", "", errors.New("a port alone can follow the brackets; valid is [address]:port")
	}
	return inside, port, CheckPort(port)
}

// CheckPort refuses what is no TCP port, and quotes only numbers: the rest may be a password.
func CheckPort(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	switch {
	case strings.Trim(s, digits) != "" || s == "":
		return errors.New("bad port: valid are 1 to 65535")
	case err != nil || n == 0:
		return fmt.Errorf("bad port %s: valid are 1 to 65535", text.Quote(s))
	}
	return nil
}

// CheckHost refuses what is neither an IPv4 address nor a name. A name has at most 253
// bytes without a final dot, in labels of 1 to 63 (RFC 1035, section 2.3.4). Underscores
// are not in the RFC but in use.
func CheckHost(s string) error {
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
			return fmt.Errorf("bad host %s: %w", text.Quote(s), err)
		}
	}
	if len(name) > 253 {
		return fmt.Errorf("bad host %s: a name has at most 253 bytes", text.Quote(s))
	}
	// No top-level domain is a number.
	if n := len(labels); n > 1 && strings.Trim(labels[n-1], digits) == "" {
		return fmt.Errorf("bad host %q: not an IPv4 address", s)
	}
	return nil
}

func checkLabel(s string) error {
	rest := strings.TrimLeft(s, digits+"-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	switch bad, _ := utf8.DecodeRuneInString(rest); {
	case s == "":
		return errors.New("an empty part between its dots")
	case len(s) > 63:
		return errors.New("a part between dots has at most 63 bytes")
	case rest == "":
		return nil
	case bad >= utf8.RuneSelf:
		return errors.New("write a name in another script in its ASCII form, which begins with xn--")
	default:
		return fmt.Errorf("%q cannot be in a name", bad)
	}
}

// Unescape replaces %XX by its byte (RFC 3986, section 2.1).
func Unescape(s string) (string, error) {
	plain, err := url.PathUnescape(s)
	if err != nil {
		return "", errors.New("bad escape: two hexadecimal digits follow a %, and a % itself is written %25")
	}
	return plain, nil
}

// Escape is %XX for a byte.
func Escape(b byte) string { return fmt.Sprintf("%%%02X", b) }
