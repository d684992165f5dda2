package retryafter

// This file lists the forms of hint, each with its source. Their order is the
// order of preference.

import (
	"strconv"
	"strings"
	"time"
)

// number is a decimal number as headers and sentences have it.
const number = `-?\d+(?:\.\d+)?`

// client marks a notice of the client's own back-off.
var client = lazy{pattern: `\b(?:will|to|next|going|automatic(?:ally)?|we(?:'ll)?|i(?:'ll)?|auto)[ -](?:try|retry)|\b(?:re)?trying|\bretry \d|\bretry(?:ing)? #|\battempts? #?\d|\b\d+ ?(?:/|of) ?\d+\b|\bback(?:ing)?[ -]?off|\bsleeping\b|\bretries (?:left|remaining)`}

var finders = []finder{
	{
		// RFC 9110, section 10.2.3; retry-after-ms is Azure's and OpenAI's; as
		// a JSON field Discord's, Slack's and Microsoft Graph's.
		source: "Retry-After", word: "retry",
		pattern: lazy{pattern: `(?:^|[^a-z0-9_-])(?:x-)?(?:ms-)?retry[-_]?after(?:[-_]?(ms|millis(?:econds)?|s|secs|seconds))?\\?["']?\s*[:=]\s*[^\s\w-]{0,4}(-?[\w][^"'\]}<\r\n]{0,63})`},
		read:    readRetryAfter,
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
		pattern: lazy{pattern: `\bretry_?delay\\?["']?:?\s*[{<]\s*(?:\\?["']?seconds\\?["']?:\s*["']?(-?\d+)["']?n?)?[\s,]*(?:\\?["']?nanos\\?["']?:\s*(\d+))?\s*[}>]`},
		read:    readProto,
	},
	{
		// gRPC proposal A6; a negative number asks not to try again.
		source: "grpc-retry-pushback-ms", word: "grpc-retry-pushback-ms",
		pattern: lazy{pattern: `grpc-retry-pushback-ms["']?\s*[:=]\s*[\["']*(` + number + `)`},
		read: func(m [][]byte, now time.Time, _ *output) (time.Duration, string) {
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
		// See buckets.go.
		source: "rate limit reset", find: findReset,
	},
	{
		source: "retry in", word: "try",
		pattern: lazy{pattern: `(.*)\b(?:try|retry)(?: again| later| (?:your|the|this) (?:request|operation|command|call|login))?(?: in| after)(?: about| approximately| at least| ~)?:? (.{1,64})`},
		read:    readSentence,
	},
	{
		source: "retry in", word: "try",
		pattern: lazy{pattern: `(.*)\b(?:wait|sleep)(?: for)?(?: about| at least)? (.{1,48}?) (?:before|and(?: then)?|then)(?: you)? (?:try|retry)`},
		read:    readSentence,
	},
	{
		// Django REST framework, exceptions.Throttled.
		source: "available in", word: "expected available in",
		pattern: lazy{pattern: `()expected available in (.{1,48})`},
		read:    readSentence,
	},
}

func readRetryAfter(m [][]byte, now time.Time, _ *output) (time.Duration, string) {
	unit := time.Second
	if suffix := strings.ToLower(string(m[1])); strings.HasPrefix(suffix, "m") {
		unit = time.Millisecond
	}
	return readValue(string(m[2]), unit, now)
}

func readSeconds(m [][]byte, now time.Time, _ *output) (time.Duration, string) {
	return readNumber(string(m[1]), time.Second, now)
}

// readProto adds seconds and nanoseconds (google.protobuf.Duration).
func readProto(m [][]byte, now time.Time, _ *output) (time.Duration, string) {
	if len(m[1]) == 0 && len(m[2]) == 0 {
		return none, ""
	}
	wait, trouble := time.Duration(0), ""
	if len(m[1]) > 0 {
		wait, trouble = readNumber(string(m[1]), time.Second, now)
	}
	if nanos, err := strconv.ParseInt(string(m[2]), 10, 32); err == nil && wait >= 0 {
		wait += time.Duration(nanos)
	}
	return wait, trouble
}

// readSentence reads "try again in 7.5s", "retry after 2 minutes". A number
// needs its unit here: "retry after 3 attempts" is not about time.
func readSentence(m [][]byte, now time.Time, _ *output) (time.Duration, string) {
	if client.get().Match(m[0]) {
		return none, ""
	}
	value := string(m[2])
	if when, ok := parseDate(trimValue(value)); ok {
		return until(when, now)
	}
	if wait, ok := parsePhrase(value); ok {
		return believe(wait)
	}
	return none, ""
}
