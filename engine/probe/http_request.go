package probe

// This file makes the request of an http address.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/retrysh/retry/engine/address"
)

// parseHTTP reads what stands behind http:// and https://.
func parseHTTP(s string, secure bool) (check, error) {
	user, authority, rest, err := address.SplitUser(s)
	if err != nil {
		return nil, err
	}
	c := &httpCheck{tls: secure}
	if c.host, c.port, err = address.HostPort(authority); err != nil {
		return nil, err
	}
	if err := c.ask(rest, c.hostHeader(), user); err != nil {
		return nil, err
	}
	c.port = cmp.Or(c.port, c.defaultPort())
	return c, nil
}

// parseHTTPUnix reads what stands behind http+unix://: the path of the socket,
// and behind a colon that of the request, with its slash.
func parseHTTPUnix(s string) (check, error) {
	const valid = "http+unix:///path.sock:/health"
	end := len(s)
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		end = i
	}
	socket, rest := s[:end], s[end:]
	if at := strings.Index(socket, ":/"); at >= 0 {
		socket, rest = socket[:at], s[at+1:]
	}
	if strings.HasSuffix(socket, ":") {
		return nil, fmt.Errorf("the path of the request is missing; valid is %s", valid)
	}
	path, err := parseSocket(socket, valid)
	if err != nil {
		return nil, err
	}
	c := &httpCheck{endpoint: endpoint{socket: path}}
	return c, c.ask(rest, "localhost", "")
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
	fields := http.Header{"User-Agent": {"retry"}, "Accept": {"*/*"}, "Accept-Encoding": {"identity"}}
	maps.Copy(fields, c.headers)
	c.request = &http.Request{Method: c.method, URL: uri, Host: cmp.Or(fields.Get("Host"), host), Header: fields, Close: true}
	if user == "" {
		return nil
	}
	if fields.Get("Authorization") != "" {
		return errors.New("bad #header: \"Authorization\" is that of the user before the host already")
	}
	name, password, _ := strings.Cut(user, ":")
	if name == "" && password == "" {
		return errors.New("the user before the @ is missing")
	}
	if name, err = address.Unescape(name); err != nil {
		return err
	}
	if password, err = address.Unescape(password); err != nil {
		return err
	}
	c.request.SetBasicAuth(name, password)
	return nil
}

func (c *httpCheck) defaultPort() string {
	if c.tls {
		return "443"
	}
	return "80"
}

// hostHeader returns the host for the Host header: brackets around an
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

// requestTarget reads path and query. Spaces and bytes above ASCII may stand for
// their %XX.
func requestTarget(s string) (*url.URL, error) {
	if !strings.HasPrefix(s, "/") {
		s = "/" + s
	}
	var b strings.Builder
	for i, c := range []byte(s) {
		switch {
		case c == '%':
			if err := address.CheckEscape(s[i:]); err != nil {
				return nil, err
			}
		case c < ' ' || c == 0x7f:
			return nil, fmt.Errorf("a control character cannot be in an address; write %s", address.Escape(c))
		case c == ' ' || c >= 0x80:
			b.WriteString(address.Escape(c))
			continue
		}
		b.WriteByte(c)
	}
	return url.ParseRequestURI(b.String())
}
