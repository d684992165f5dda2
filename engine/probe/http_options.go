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
