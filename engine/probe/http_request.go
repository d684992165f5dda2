package probe

// This file reads an http address: the request, and behind the '#' which answer is ready.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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
	if c.host, c.port, err = address.HostPort(authority); err != nil {
		return nil, err
	}
	if err := c.setRequest(rest, c.hostHeader(), user); err != nil {
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
	return c, c.setRequest(rest, "localhost", "")
}

// setRequest reads path, query and options, and makes the request.
func (c *httpCheck) setRequest(s, host, user string) (err error) {
	path, fragment, hasOptions := strings.Cut(s, "#")
	if hasOptions {
		if c.httpOptions, err = parseOptions(fragment, c.tls); err != nil {
			return err
		}
	}
	uri, err := requestURL(host, path)
	if err != nil {
		return err
	}
	fields := http.Header{"User-Agent": {"retry"}, "Accept": {"*/*"}, "Accept-Encoding": {"identity"}}
	maps.Copy(fields, c.headers)
	c.request = &http.Request{Method: c.method, URL: uri, Host: fields.Get("Host"), Header: fields, Close: true}
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

const validOptions = "valid are #status=200-399, #body=REGEX, #method=HEAD, #header=Name: value and #insecure, joined by & (a & in a value is written %26)"

// httpOptions are what to ask for and which answer is ready.
type httpOptions struct {
	method   string // "": GET
	headers  http.Header
	insecure bool
	statuses []span         // empty: 2xx
	body     *regexp.Regexp // nil: any
}

// span is a range of statuses, both ends included.
type span struct{ low, high int }

// parseOptions reads what stands behind the '#'.
func parseOptions(fragment string, secure bool) (httpOptions, error) {
	var o httpOptions
	var seen []string
	for option := range strings.SplitSeq(fragment, "&") {
		name, value, hasValue := strings.Cut(option, "=")
		if name != "header" && slices.Contains(seen, name) {
			return o, fmt.Errorf("%s is given twice", text.Quote("#"+name))
		}
		seen = append(seen, name)
		value, err := address.Unescape(value)
		if err != nil {
			return o, fmt.Errorf("%s: %w", text.Quote("#"+name), err)
		}
		if err := o.option(name, value, hasValue, secure); err != nil {
			return o, err
		}
	}
	if o.method == "HEAD" && o.body != nil {
		return o, errors.New("#body does not go with #method=HEAD, whose answer has no body")
	}
	return o, nil
}

func (o *httpOptions) option(name, value string, hasValue, secure bool) (err error) {
	switch {
	case name == "status":
		o.statuses, err = parseStatuses(value)
	case name == "body" && value == "":
		err = errors.New("bad #body: the regular expression is missing")
	case name == "body":
		if o.body, err = regexp.Compile(value); err != nil {
			err = fmt.Errorf("bad #body %s: %s", text.Quote(value), text.Cut(oneLine(strings.TrimPrefix(err.Error(), "error parsing regexp: ")), maxLine))
		}
	case name == "method":
		o.method, err = parseMethod(value)
	case name == "header":
		err = o.header(value)
	case name == "insecure" && hasValue:
		err = errors.New("#insecure takes no value")
	case name == "insecure" && !secure:
		err = errors.New("#insecure goes with https:// only")
	case name == "insecure":
		o.insecure = true
	default:
		err = fmt.Errorf("unknown option %s: %s", text.Quote(text.MaskedAddress("#"+name)), validOptions)
	}
	return err
}

// parseMethod refuses what no web server would take for a method: it is a
// token (RFC 9110, section 9.1), and those in use are in capitals. CONNECT
// asks a proxy, and its answer does not end.
func parseMethod(s string) (string, error) {
	if s == "" || len(s) > 20 || strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" || s == "CONNECT" {
		return "", fmt.Errorf("bad #method %s: valid are GET, HEAD, OPTIONS and their like, in capitals", text.Quote(s))
	}
	return s, nil
}

// header reads Name: value. The value is not shown in an error: it may be a
// secret.
func (o *httpOptions) header(s string) error {
	const valid = "; valid is #header=Name: value"
	name, value, ok := strings.Cut(s, ":")
	value = strings.Trim(value, " \t")
	quoted, wrong := text.Quote(name), ""
	switch {
	case !ok:
		wrong = "the colon behind its name is missing" + valid
	case name == "":
		wrong = "the name is missing" + valid
	case !isToken(name):
		wrong = "what stands before the colon is not a name of a header" + valid
	case value == "":
		wrong = quoted + " has no value" + valid
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		wrong = "the value of " + quoted + " holds a control character"
	case slices.Contains(framing, strings.ToLower(name)):
		wrong = quoted + " is not yours to set, since the request has no body and its connection is closed"
	case o.headers.Get(name) != "":
		wrong = quoted + " is given twice"
	}
	if wrong != "" {
		return errors.New("bad #header: " + wrong)
	}
	if o.headers == nil {
		o.headers = http.Header{}
	}
	o.headers.Set(name, value)
	return nil
}

// framing are the headers that say where a request ends or what becomes of its
// connection (RFC 9110, sections 7.6.1 and 7.8; RFC 9112, section 6).
var framing = []string{"connection", "content-length", "transfer-encoding", "trailer", "te", "upgrade", "expect", "keep-alive"}

// parseStatuses reads codes and ranges, comma separated.
func parseStatuses(s string) ([]span, error) {
	var list []span
	for part := range strings.SplitSeq(s, ",") {
		first, second, isRange := strings.Cut(part, "-")
		if !isRange {
			second = first
		}
		low, high := statusCode(first), statusCode(second)
		if low == 0 || low > high {
			return nil, fmt.Errorf("bad #status %s: valid are codes from 200 to 599 and ranges of them, as in 200-399,404", text.Quote(s))
		}
		list = append(list, span{low, high})
	}
	return list, nil
}

// statusCode reads a final status, 0 for what is none: 1xx never ends a request, and
// there is none above 599 (RFC 9110, section 15).
func statusCode(s string) int {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || len(s) != 3 || n < 200 || n > 599 {
		return 0
	}
	return int(n)
}

// isToken reports whether s can be a header's name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && strings.Trim(s, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}
