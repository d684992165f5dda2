package probe

// This file reads an http address: the request, and behind the '#' which answer is ready.

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/retrysh/retry/engine/address"
	"github.com/retrysh/retry/engine/text"
)

// parseHTTP reads what stands behind http:// and https://.
func parseHTTP(s string, secure bool) (check, error) {
	user, authority, rest, err := address.SplitUser(s)
	if err != nil {
		return nil, err
	}
	c := &httpCheck{tls: secure}
	port := "80"
	if secure {
		port = "443"
	}
	if c.host, c.port, err = address.HostPort(authority); err != nil {
		return nil, err
	}
	c.port = cmp.Or(c.port, port)
	// The Host header has brackets around an IPv6 address, no zone (it means nothing
	// elsewhere: RFC 6874, section 4), and a port only if it is not the scheme's own.
	host := strings.TrimSuffix(net.JoinHostPort(serverName(c.host), c.port), ":"+port)
	return c, c.setRequest(rest, host, user)
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
	return c, c.setRequest(rest, "localhost", "")
}

// setRequest reads path, query and options, and makes the request.
func (c *httpCheck) setRequest(s, host, user string) (err error) {
	path, fragment, hasOptions := strings.Cut(s, "#")
	c.request = &http.Request{Header: http.Header{}, Close: true}
	if hasOptions {
		if err = c.options(fragment); err != nil {
			return err
		}
	}
	if c.request.URL, err = requestURL(host, path); err != nil {
		return err
	}
	if c.tls {
		c.request.URL.Scheme = "https"
	}
	fields := c.request.Header
	c.request.Host = fields.Get("Host")
	for name, values := range commonHeader() {
		if fields.Get(name) == "" {
			fields[name] = values
		}
	}
	name, password, _ := strings.Cut(user, ":")
	switch {
	case user == "":
		return nil
	case fields.Get("Authorization") != "":
		return errors.New("bad #header: \"Authorization\" is that of the user before the host already")
	case user == ":":
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

// commonHeader is what every request has, unless the target says otherwise.
func commonHeader() http.Header {
	return http.Header{"User-Agent": {"retry"}, "Accept": {"*/*"}, "Accept-Encoding": {"identity"}}
}

// serverName returns the host without a zone.
func serverName(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.WithZone("").String()
	}
	return host
}

// requestURL reads path and query. Spaces and bytes above ASCII may stand for their %XX.
func requestURL(host, s string) (*url.URL, error) {
	if _, err := address.Unescape(s); err != nil {
		return nil, err
	}
	var b strings.Builder
	if !strings.HasPrefix(s, "/") {
		b.WriteByte('/')
	}
	for _, c := range []byte(s) {
		switch {
		case c < ' ' || c == 0x7f:
			return nil, fmt.Errorf("a control character cannot be in an address; write %s", address.Escape(c))
		case c == ' ' || c >= 0x80:
			b.WriteString(address.Escape(c))
		default:
			b.WriteByte(c)
		}
	}
	u, err := url.ParseRequestURI(b.String())
	if err == nil {
		u.Scheme, u.Host = "http", host // for http.Transport, which is given the connection
	}
	return u, err
}

const validOptions = "valid are #status=200-399, #body=REGEX, #method=HEAD, #header=Name: value and #insecure, " +
	"joined by & (a & in a value is written %26)"

// options reads what stands behind the '#'.
func (c *httpCheck) options(fragment string) error {
	for _, name := range []string{"status", "body", "method", "header"} {
		if strings.Contains(fragment, "#"+name+"=") { // it would be a part of the value before it
			return fmt.Errorf("options are joined by &: write &%s= for #%[1]s= (a # in a value is written %%23)", name)
		}
	}
	var seen []string
	for option := range strings.SplitSeq(fragment, "&") {
		name, value, hasValue := strings.Cut(option, "=")
		if name != "header" && slices.Contains(seen, name) {
			return fmt.Errorf("%s is given twice", text.Quote("#"+name))
		}
		seen = append(seen, name)
		value, err := address.Unescape(value)
		if err != nil {
			return fmt.Errorf("%s: %w", text.Quote("#"+name), err)
		}
		if err := c.option(name, value, hasValue); err != nil {
			return err
		}
	}
	if c.request.Method == "HEAD" && c.body != nil {
		return errors.New("#body does not go with #method=HEAD, whose answer has no body")
	}
	return nil
}

func (c *httpCheck) option(name, value string, hasValue bool) (err error) {
	switch {
	case name == "status":
		c.statuses, err = parseStatuses(value)
	case name == "body" && value == "":
		err = errors.New("bad #body: the regular expression is missing")
	case name == "body":
		if c.body, err = regexp.Compile(value); err != nil {
			err = fmt.Errorf("bad #body %s: %s", text.Quote(value),
				text.Cut(oneLine(strings.TrimPrefix(err.Error(), "error parsing regexp: ")), maxLine))
		}
	case name == "method":
		c.request.Method = value
		// A method is a token (RFC 9110, section 9.1), and those in use are in capitals.
		// CONNECT asks a proxy, and its answer does not end.
		if value == "" || len(value) > 20 || strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" ||
			value == "CONNECT" {
			err = fmt.Errorf("bad #method %s: valid are GET, HEAD, OPTIONS and their like, in capitals",
				text.Quote(value))
		}
	case name == "header":
		err = c.header(value)
	case name == "insecure" && hasValue:
		err = errors.New("#insecure takes no value")
	case name == "insecure" && !c.tls:
		err = errors.New("#insecure goes with https:// only")
	case name == "insecure":
		c.insecure = true
	default:
		err = fmt.Errorf("unknown option %s: %s", text.Quote(text.MaskedAddress("#"+name)), validOptions)
	}
	return err
}

// header reads Name: value. The value is not shown in an error: it may be a
// secret.
func (c *httpCheck) header(s string) error {
	const valid = "; valid is #header=Name: value"
	name, value, ok := strings.Cut(s, ":")
	value = strings.Trim(value, " \t")
	quoted, wrong := text.Quote(name), ""
	switch {
	case !ok:
		wrong = "the colon behind its name is missing" + valid
	case name == "":
		wrong = "the name is missing" + valid
	case strings.Trim(name, tokenBytes) != "":
		wrong = "what stands before the colon is not a name of a header" + valid
	case value == "":
		wrong = quoted + " has no value" + valid
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		wrong = "the value of " + quoted + " holds a control character"
	case slices.Contains(framing, strings.ToLower(name)):
		wrong = quoted + " is not yours to set, since the request has no body and its connection is closed"
	case c.request.Header.Get(name) != "":
		wrong = quoted + " is given twice"
	}
	if wrong != "" {
		return errors.New("bad #header: " + wrong)
	}
	c.request.Header.Set(name, value)
	return nil
}

// tokenBytes are what the name of a header can hold (RFC 9110, section 5.6.2).
const tokenBytes = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// framing are the headers that say where a request ends or what becomes of its
// connection (RFC 9110, sections 7.6.1 and 7.8; RFC 9112, section 6).
var framing = []string{
	"connection", "content-length", "transfer-encoding", "trailer", "te", "upgrade", "expect", "keep-alive",
}

// statusForm is a final status, or a range of them: 1xx never ends a request, and there
// is none above 599 (RFC 9110, section 15).
const statusForm = `^[2-5][0-9]{2}(-[2-5][0-9]{2})?$`

// parseStatuses reads codes and ranges, comma separated.
func parseStatuses(s string) ([]string, error) {
	valid := regexp.MustCompile(statusForm)
	list := strings.Split(s, ",")
	for _, part := range list {
		if !valid.MatchString(part) || part[:3] > part[len(part)-3:] {
			return nil, fmt.Errorf("bad #status %s: valid are codes from 200 to 599 and ranges of them, as in "+
				"200-399,404", text.Quote(s))
		}
	}
	return list, nil
}
