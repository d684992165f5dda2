package probe

// This file reads the options of an http address: what stands behind the '#'.

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/address"
	"github.com/retrysh/retry/engine/text"
)

// validOptions lists them, for messages.
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
	switch name {
	case "status":
		o.statuses, err = parseStatuses(value)
	case "body":
		if value == "" {
			return errors.New("bad #body: the regular expression is missing")
		}
		if o.body, err = regexp.Compile(value); err != nil {
			return fmt.Errorf("bad #body %s: %s", text.Quote(value), text.Cut(oneLine(strings.TrimPrefix(err.Error(), "error parsing regexp: ")), maxLine))
		}
	case "method":
		o.method, err = parseMethod(value)
	case "header":
		err = o.header(value)
	case "insecure":
		if hasValue {
			return errors.New("#insecure takes no value")
		}
		if !secure {
			return errors.New("#insecure goes with https:// only")
		}
		o.insecure = true
	default:
		return fmt.Errorf("unknown option %s: %s", text.Quote(text.MaskedAddress("#"+name)), validOptions)
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
	const valid = "valid is #header=Name: value"
	name, value, ok := strings.Cut(s, ":")
	value = strings.Trim(value, " \t")
	switch {
	case !ok:
		return errors.New("bad #header: the colon behind its name is missing; " + valid)
	case name == "":
		return errors.New("bad #header: the name is missing; " + valid)
	case !isToken(name):
		return errors.New("bad #header: what stands before the colon is not a name of a header; " + valid)
	case value == "":
		return fmt.Errorf("bad #header: %s has no value; %s", text.Quote(name), valid)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fmt.Errorf("bad #header: the value of %s holds a control character", text.Quote(name))
	case framesRequest(name):
		return fmt.Errorf("bad #header: %s is not yours to set, since the request has no body and its connection is closed", text.Quote(name))
	}
	if o.headers.Get(name) != "" {
		return fmt.Errorf("bad #header: %s is given twice", text.Quote(name))
	}
	if o.headers == nil {
		o.headers = http.Header{}
	}
	o.headers.Set(name, value)
	return nil
}

// framesRequest reports whether a header says where a request ends or what
// becomes of its connection (RFC 9110, sections 7.6.1 and 7.8; RFC 9112,
// section 6).
func framesRequest(name string) bool {
	switch strings.ToLower(name) {
	case "connection", "content-length", "transfer-encoding", "trailer", "te", "upgrade", "expect", "keep-alive":
		return true
	}
	return false
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
			return nil, fmt.Errorf("bad #status %s: valid are codes from 200 to 599 and ranges of them, as in 200-399,404", text.Quote(s))
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

// isToken reports whether s can be a header's name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && strings.Trim(s, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}
