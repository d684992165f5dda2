package probe

// http:// and https:// targets: what to ask, and which answer is ready.

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// maxBody is how much of a body #body looks at.
const maxBody = 1 << 20

// httpCheck asks once with GET. A redirect is an answer like any other, so it
// is not ready unless #status names it: the target is what was typed.
type httpCheck struct {
	host, port string
	request    string
	tls        bool
	insecure   bool
	statuses   []span         // empty: 2xx
	body       *regexp.Regexp // nil: any
}

// span is a range of statuses, both ends included.
type span struct{ low, high int }

func parseHTTP(s string, secure bool) (check, error) {
	address, fragment, hasOptions := strings.Cut(s, "#")
	end := strings.IndexAny(address, "/?")
	if end < 0 {
		end = len(address)
	}
	authority, path := address[:end], address[end:]
	user, hasUser := "", false
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, authority, hasUser = authority[:at], authority[at+1:], true
	}
	host, port, err := hostPort(authority)
	if err != nil {
		return nil, err
	}
	c := &httpCheck{host: host, port: port, tls: secure}
	if hasOptions {
		if err := c.options(fragment); err != nil {
			return nil, err
		}
	}
	uri, err := requestTarget(path)
	if err != nil {
		return nil, err
	}
	c.request = "GET " + uri + " HTTP/1.1\r\nHost: " + c.hostHeader() +
		"\r\nUser-Agent: retry\r\nAccept: */*\r\nAccept-Encoding: identity\r\nConnection: close\r\n"
	if hasUser {
		credentials, err := basic(user)
		if err != nil {
			return nil, err
		}
		c.request += "Authorization: Basic " + credentials + "\r\n"
	}
	c.request += "\r\n"
	if c.port == "" {
		c.port = c.defaultPort()
	}
	return c, nil
}

func (c *httpCheck) defaultPort() string {
	if c.tls {
		return "443"
	}
	return "80"
}

// hostHeader returns the host as the server is told it: brackets around an
// IPv6 address, no zone (it means nothing elsewhere: RFC 6874, section 4), and
// a port only where it is not the scheme's own.
func (c *httpCheck) hostHeader() string {
	host := serverName(c.host)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if c.port == "" || c.port == c.defaultPort() {
		return host
	}
	return host + ":" + c.port
}

// serverName returns the host without a zone.
func serverName(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.WithZone("").String()
	}
	return host
}

// basic returns user:password, %XX decoded, as Basic authentication has it
// (RFC 7617, section 2).
func basic(user string) (string, error) {
	name, password, _ := strings.Cut(user, ":")
	if name == "" && password == "" {
		return "", errors.New("the user before the @ is missing")
	}
	name, err := unescape(name)
	if err != nil {
		return "", err
	}
	password, err = unescape(password)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString([]byte(name + ":" + password)), nil
}

// requestTarget returns path and query as the request line has them: spaces
// and bytes above ASCII as %XX, everything else as it was typed.
func requestTarget(s string) (string, error) {
	if !strings.HasPrefix(s, "/") {
		s = "/" + s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%':
			if err := checkEscape(s[i:]); err != nil {
				return "", err
			}
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			return "", fmt.Errorf("a control character cannot be in an address; write %s", escapeByte(c))
		case c == ' ' || c >= 0x80:
			b.WriteString(escapeByte(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// options reads what stands behind the '#'.
func (c *httpCheck) options(fragment string) error {
	seen := ""
	for option := range strings.SplitSeq(fragment, "&") {
		name, value, hasValue := strings.Cut(option, "=")
		if strings.Contains(seen, "&"+name+"=") {
			return fmt.Errorf("#%s is given twice", name)
		}
		seen += "&" + name + "="
		value, err := unescape(value)
		if err != nil {
			return fmt.Errorf("#%s: %w", name, err)
		}
		if err := c.option(name, value, hasValue); err != nil {
			return err
		}
	}
	return nil
}

func (c *httpCheck) option(name, value string, hasValue bool) (err error) {
	switch name {
	case "status":
		c.statuses, err = parseStatuses(value)
	case "body":
		if value == "" {
			return errors.New("bad #body: the regular expression is missing")
		}
		if c.body, err = regexp.Compile(value); err != nil {
			return fmt.Errorf("bad #body %q: %s", value, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	case "insecure":
		if hasValue {
			return errors.New("#insecure takes no value")
		}
		if !c.tls {
			return errors.New("#insecure goes with https:// only")
		}
		c.insecure = true
	default:
		return fmt.Errorf("unknown option %q: valid are #status=200-399, #body=REGEX and #insecure, joined by & (a & in a pattern is written %%26)", "#"+name)
	}
	return err
}

// parseStatuses reads codes and ranges, comma separated.
func parseStatuses(s string) ([]span, error) {
	var list []span
	for part := range strings.SplitSeq(s, ",") {
		first, second, isRange := strings.Cut(part, "-")
		if !isRange {
			second = first
		}
		low, ok := statusCode(first)
		high, ok2 := statusCode(second)
		if !ok || !ok2 || low > high {
			return nil, fmt.Errorf("bad #status %q: valid are codes from 200 to 599 and ranges of them, as in 200-399,404", s)
		}
		list = append(list, span{low, high})
	}
	return list, nil
}

// statusCode reads a final status: 1xx never ends a request, and there is none
// above 599 (RFC 9110, section 15).
func statusCode(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil && len(s) == 3 && n >= 200 && n <= 599
}

func (c *httpCheck) run(ctx context.Context, t *try) error {
	raw, err := t.dial(ctx, c.host, c.port)
	if err != nil {
		return err
	}
	// The TLS layer is not closed: that would wait up to 5 s for a peer that
	// has stopped reading.
	defer func() { _ = raw.Close() }()
	defer guard(ctx, raw)()
	conn := raw
	if c.tls {
		t.missing = "no TLS handshake"
		if conn, err = c.handshake(raw, t); err != nil {
			return err
		}
	}
	t.missing = "no answer"
	// A peer may answer and close before it has read everything, so what
	// counts is the reading.
	_, writeErr := conn.Write([]byte(c.request))
	answer := newResponse(bufio.NewReader(conn))
	if err := answer.readHead(); err != nil {
		if writeErr != nil && !errors.As(err, new(plain)) {
			return writeErr
		}
		return err
	}
	return c.judge(answer, t)
}

func (c *httpCheck) handshake(conn net.Conn, t *try) (net.Conn, error) {
	secure := tls.Client(conn, &tls.Config{
		RootCAs:            t.roots,
		ServerName:         strings.TrimSuffix(serverName(c.host), "."),
		NextProtos:         []string{"http/1.1"},
		InsecureSkipVerify: c.insecure, //nolint:gosec // asked for by #insecure
	})
	if err := secure.Handshake(); err != nil {
		return nil, &handshakeError{err}
	}
	return secure, nil
}

// judge tells whether the answer is the one that was waited for.
func (c *httpCheck) judge(answer *response, t *try) error {
	if !c.accepts(answer.status) {
		return plain(statusNote(answer.status))
	}
	if c.body == nil {
		return nil
	}
	t.missing = "no complete answer"
	body, whole, err := answer.readBody(maxBody)
	if err != nil {
		return err
	}
	if c.body.Match(body) {
		return nil
	}
	if !whole {
		return plain("body does not match in its first MiB")
	}
	return plain("body does not match")
}

func (c *httpCheck) accepts(status int) bool {
	if len(c.statuses) == 0 {
		return status >= 200 && status <= 299
	}
	for _, s := range c.statuses {
		if status >= s.low && status <= s.high {
			return true
		}
	}
	return false
}

func statusNote(status int) string {
	note := "status " + strconv.Itoa(status)
	switch status {
	case 301, 302, 303, 307, 308:
		note += " (redirects are not followed)"
	}
	return note
}
