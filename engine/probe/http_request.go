package probe

// This file makes the request of an http address.

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// parseHTTP reads what stands behind http:// and https://.
func parseHTTP(s string, secure bool) (check, error) {
	user, authority, rest, err := splitUser(s)
	if err != nil {
		return nil, err
	}
	c := &httpCheck{tls: secure}
	if c.host, c.port, err = hostPort(authority); err != nil {
		return nil, err
	}
	if err := c.ask(rest, c.hostHeader(), user); err != nil {
		return nil, err
	}
	if c.port == "" {
		c.port = c.defaultPort()
	}
	return c, nil
}

// parseHTTPUnix reads what stands behind http+unix://: the path of the socket,
// and behind a colon that of the request, with its slash.
func parseHTTPUnix(s string) (check, error) {
	const valid = "http+unix:///path.sock:/health"
	end := pathEnd(s)
	socket, rest := s[:end], s[end:]
	if at := strings.Index(socket, ":/"); at >= 0 {
		socket, rest = socket[:at], s[at+1:]
	}
	if strings.HasSuffix(socket, ":") {
		return nil, fmt.Errorf("the path of the request is missing; valid is %s", valid)
	}
	path, err := parsePath(socket, valid)
	if err == nil {
		err = checkSocket(path, valid)
	}
	if err != nil {
		return nil, err
	}
	c := &httpCheck{socket: path}
	return c, c.ask(rest, "localhost", "")
}

// pathEnd returns where the query or the options of an address begin.
func pathEnd(s string) int {
	if end := strings.IndexAny(s, "?#"); end >= 0 {
		return end
	}
	return len(s)
}

// ask reads path, query and options, and makes the request.
func (c *httpCheck) ask(s, host, user string) (err error) {
	path, fragment, hasOptions := strings.Cut(s, "#")
	if hasOptions {
		if c.httpOptions, err = parseOptions(fragment, c.tls); err != nil {
			return err
		}
	}
	uri, err := requestTarget(path)
	if err != nil {
		return err
	}
	method := c.method
	if method == "" {
		method = "GET"
	}
	fields := []header{{"Host", host}, {"User-Agent", "retry"}, {"Accept", "*/*"}, {"Accept-Encoding", "identity"}, {"Connection", "close"}}
	if user != "" {
		credentials, err := basic(user)
		if err != nil {
			return err
		}
		fields = append(fields, header{"Authorization", "Basic " + credentials})
	}
	switch method { // which say that a body follows unless told otherwise (RFC 9110, section 8.6)
	case "POST", "PUT", "PATCH":
		fields = append(fields, header{"Content-Length", "0"})
	}
	c.request = method + " " + uri + " HTTP/1.1\r\n"
	for _, h := range fields {
		if !c.sets(h.name) {
			c.request += h.name + ": " + h.value + "\r\n"
		} else if h.name == "Authorization" {
			return errors.New("bad #header: \"Authorization\" is that of the user before the host already")
		}
	}
	for _, h := range c.headers {
		c.request += h.name + ": " + h.value + "\r\n"
	}
	c.request += "\r\n"
	return nil
}

// sets reports whether a header is given by #header.
func (o *httpOptions) sets(name string) bool {
	for _, h := range o.headers {
		if strings.EqualFold(h.name, name) {
			return true
		}
	}
	return false
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
