package retryafter

// This file lists the forms of hint, each with its source. Their order is the
// order of preference.

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// finder is one form of hint.
type finder struct {
	source string
	// word is in lower case and part of every match; the pattern is tried on
	// the text around it only, which reaches over this many more lines.
	word    string
	lines   int
	pattern lazy
	// limited: a field that stands on every answer, and is believed if the
	// output shows a limit.
	limited bool
	// read turns a match into a wait, or none, and says what was wrong.
	read func(m [][]byte, now time.Time) (time.Duration, string)
	// find takes the place of all of the above but the source, if a form needs
	// more than its last match.
	find func(o *shown, now time.Time) (time.Duration, string)
}

// lazy compiles a pattern, without regard to case, at its first use.
type lazy struct {
	pattern  string
	once     sync.Once
	compiled *regexp.Regexp
}

func (l *lazy) get() *regexp.Regexp {
	l.once.Do(func() { l.compiled = regexp.MustCompile("(?i)" + l.pattern) })
	return l.compiled
}

// number is a decimal number as headers and sentences have it.
const number = `-?\d+(?:\.\d+)?`

// client marks a notice of the client's own back-off.
var client = lazy{pattern: `\b(?:will|to|next|going|automatic(?:ally)?|we(?:'ll)?|i(?:'ll)?|auto)[ -](?:try|retry)|` +
	`\b(?:re)?trying|\bretry \d|\bretry(?:ing)? #|\battempts? #?\d|\b\d+ ?(?:/|of) ?\d+\b|` +
	`\bback(?:ing)?[ -]?off|\bsleeping\b|\bretries (?:left|remaining)`}

var finders = []finder{
	{
		// RFC 9110, section 10.2.3; retry-after-ms is Azure's and OpenAI's; as
		// a JSON field Discord's, Slack's and Microsoft Graph's.
		source: "Retry-After", word: "retry",
		pattern: lazy{pattern: `^(.*(?:^|[^a-z0-9_-]))` +
			`(?:x-)?(?:ms-)?retry[-_]?after(?:[-_]?(ms|millis(?:econds)?|s|secs|seconds))?` +
			`(\\?["'])?\s*([:=])\s*([^\s\w-]{0,4})(-?[\w][^"'\]}<\r\n]*)`},
		read: func(m [][]byte, now time.Time) (time.Duration, string) {
			unit := time.Second
			if strings.HasPrefix(strings.ToLower(string(m[2])), "m") {
				unit = time.Millisecond
			}
			return readWhole(fieldValue(m[1], m[3], m[4], m[5], m[6]), unit, now)
		},
	},
	{
		// google.rpc.RetryInfo (error_details.proto), in JSON form.
		source: "RetryInfo", word: "retrydelay",
		pattern: lazy{pattern: `\bretrydelay\\?["']?\s*[:=]\s*\\?["']?(` + number + `)s`},
		read:    readSeconds,
	},
	{
		// The same in protobuf's text form, on one line or on several, and as an
		// object of some language's.
		source: "RetryInfo", word: "delay", lines: 4,
		pattern: lazy{pattern: `\bretry_?delay\\?["']?:?\s*[{<]\s*` +
			`(?:\\?["']?seconds\\?["']?:\s*["']?(-?\d+)["']?n?)?[\s,]*` +
			`(?:\\?["']?nanos\\?["']?:\s*(\d+))?\s*[}>]`},
		read: readProto,
	},
	{
		// gRPC proposal A6; a negative number asks not to try again.
		source: "grpc-retry-pushback-ms", word: "grpc-retry-pushback-ms",
		pattern: lazy{pattern: `grpc-retry-pushback-ms["']?\s*[:=]\s*[\["']*(` + number + `)`},
		read: func(m [][]byte, now time.Time) (time.Duration, string) {
			return readNumber(string(m[1]), time.Millisecond, now)
		},
	},
	{
		// IETF draft-ietf-httpapi-ratelimit-headers: t= in the newer form,
		// reset= in the older, both in seconds from now.
		source: "RateLimit", word: "ratelimit",
		pattern: lazy{pattern: `(?:^|[^a-z0-9-])ratelimit["']?\s*:.*?(?:;\s*t=|\breset=)(\d+)`},
		read:    readSeconds,
		limited: true,
	},
	{
		source: "rate limit reset", find: findReset,
	},
	{
		source: "retry in", word: "try",
		pattern: lazy{pattern: `.*\b(?:try|retry)` +
			`(?: again| later| (?:your|the|this) (?:request|operation|command|call|login))?` +
			`(?: in| after)(?: about| approximately| at least| ~)?:? (.{1,64})`},
		read: readSentence,
	},
	{
		source: "retry in", word: "try",
		pattern: lazy{pattern: `.*\b(?:wait|sleep)(?: for)?(?: about| at least)? (.{1,48}?) ` +
			`(?:before|and(?: then)?|then)(?: you)? (?:try|retry)`},
		read: readSentence,
	},
	{
		// Django REST framework, exceptions.Throttled.
		source: "available in", word: "expected available in",
		pattern: lazy{pattern: `expected available in (.{1,48})`},
		read:    readSentence,
	},
}

// embedded is what ends the value of a field within a line: another field, or a bracket.
var embedded = lazy{pattern: `[,;] *[\w-]+["']?[:=]|[)}]`}

// fieldValue returns the value of a field. A header of its own has the whole line. In a line
// with more the value ends at the next field, in JSON at a comma, behind "=" at a blank; what
// is quoted or in brackets ends with these.
func fieldValue(prefix, nameQuote, separator, opening, rest []byte) string {
	value := string(rest)
	end := -1
	switch {
	case bytes.ContainsAny(opening, "\"'[("):
		end = strings.IndexByte(value, ')')
	case len(nameQuote) > 0:
		end = strings.IndexAny(value, ",;)")
	case string(separator) == "=":
		end = strings.IndexAny(value, " \t,;&)")
	case len(bytes.Trim(prefix, "<>*| \t-")) > 0:
		if at := embedded.get().FindStringIndex(value); at != nil {
			end = at[0]
		}
	}
	if end >= 0 {
		value = value[:end]
	}
	return value
}

func readSeconds(m [][]byte, now time.Time) (time.Duration, string) {
	return readNumber(string(m[1]), time.Second, now)
}

// readProto adds seconds and nanoseconds (google.protobuf.Duration).
func readProto(m [][]byte, now time.Time) (wait time.Duration, trouble string) {
	if len(m[1])+len(m[2]) == 0 {
		return none, ""
	}
	if len(m[1]) > 0 {
		wait, trouble = readSeconds(m, now)
	}
	if nanos, err := strconv.ParseInt(string(m[2]), 10, 32); err == nil && wait >= 0 {
		wait += time.Duration(nanos)
	}
	return wait, trouble
}

// readSentence reads "try again in 7.5s", "retry after 2 minutes". A number
// needs its unit here: "retry after 3 attempts" is not about time.
func readSentence(m [][]byte, now time.Time) (time.Duration, string) {
	if client.get().Match(m[0]) {
		return none, ""
	}
	if when, _, ok := parseDate(trimValue(string(m[1]))); ok {
		return until(when, now)
	}
	if wait, _, ok := parsePhrase(string(m[1])); ok {
		return believe(wait)
	}
	return none, ""
}
