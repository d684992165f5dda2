package retryafter

// This file reads values: numbers, durations and dates, and says which of
// them are not to be believed.

import (
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// maxDigits is more than any epoch in nanoseconds needs.
const maxDigits = 19

// value begins with a decimal number; a word may follow it directly (1e3, 0x1F).
var value = lazy{pattern: `^(` + number + `)(\w)?`}

// readValue reads a number in the unit, an epoch, a duration or a date.
func readValue(s string, unit time.Duration, now time.Time) (time.Duration, string) {
	s = trimValue(s)
	if when, ok := parseDate(s); ok {
		return until(when, now)
	}
	m := value.get().FindStringSubmatch(s)
	if wait, ok := parsePhrase(s); ok && m != nil {
		return believe(wait)
	}
	if m == nil || m[2] != "" {
		return none, "is neither a number nor a date"
	}
	return readNumber(m[1], unit, now)
}

// trimValue removes what stands around a value in headers and JSON.
func trimValue(s string) string { return strings.Trim(s, " \t\"'[](){}\\,;") }

// Numbers from these on are moments, not spans: 10^9 seconds are 31 years, and
// as an epoch September 2001.
const (
	epochSeconds      = 1e9
	epochMilliseconds = 1e12
)

// readNumber reads a number as a span in the unit, or as an epoch in seconds
// or milliseconds where it is too large for a span.
func readNumber(s string, unit time.Duration, now time.Time) (time.Duration, string) {
	whole, _, _ := strings.Cut(s, ".")
	if len(strings.TrimPrefix(whole, "-")) > maxDigits {
		return none, "is a number of " + strconv.Itoa(len(whole)) + " digits"
	}
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return none, "is not a number"
	case n < 0:
		return none, "is negative"
	case n >= 1e15:
		return none, "is absurd (" + s + ")"
	case n >= epochMilliseconds:
		return until(time.UnixMilli(int64(n)), now)
	case n >= epochSeconds && unit == time.Second:
		return until(time.Unix(int64(n), int64((n-float64(int64(n)))*1e9)), now)
	case n*unit.Seconds() > MaxBelieved.Seconds():
		return none, "is absurd (" + s + ")"
	}
	return time.Duration(n * float64(unit)), ""
}

// until returns the time from now to the moment: 0, with a word, for one that has passed.
func until(when, now time.Time) (time.Duration, string) {
	wait := when.Sub(now)
	if wait < 0 {
		return 0, "names a moment in the past"
	}
	return believe(wait)
}

func believe(wait time.Duration) (time.Duration, string) {
	if wait > MaxBelieved {
		return none, "is absurd (" + wait.Round(time.Hour).String() + ")"
	}
	return wait, ""
}

// dateLayouts are the three forms of HTTP-date (RFC 9110, section 5.6.7), RFC
// 3339 with and without its colon and zone, and the form in which Boulder (Let's
// Encrypt) says when a limit ends.
var dateLayouts = []string{
	"Mon, 2 Jan 2006 15:04:05 GMT",
	"Monday, 02-Jan-06 15:04:05 GMT",
	time.ANSIC,
	time.RFC3339,
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 UTC",
}

// parseDate reads a date at the beginning of s; what follows it is ignored, but for a digit.
func parseDate(s string) (time.Time, bool) {
	if len(s) < 19 || len(s) > 200 || !strings.Contains(s, ":") {
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		when, err := time.Parse(layout, s)
		if e, ok := err.(*time.ParseError); ok && strings.HasPrefix(e.Message, ": extra text") && strings.IndexByte("0123456789", e.ValueElem[0]) < 0 {
			when, err = time.Parse(layout, strings.TrimSuffix(s, e.ValueElem))
		}
		if err == nil {
			return when, true
		}
	}
	return time.Time{}, false
}

// span is one part of a duration in words.
var span = lazy{pattern: `^[ ,"'(~]*(?:and )?(?:(` + number + `)|(?:a|one) ) *([a-z]+)(?:\(s\))?`}

// parsePhrase reads a duration at the beginning of s: "7.5s", "1m30s", "2
// minutes", "1 minute and 30 seconds", "a minute". What follows is ignored.
func parsePhrase(s string) (total time.Duration, found bool) {
	for range 4 { // days, hours, minutes, seconds
		m := span.get().FindStringSubmatch(s)
		if m == nil {
			break
		}
		unit, ok := text.Unit(strings.ToLower(m[2]))
		if !ok {
			break
		}
		n := 1.0
		if m[1] != "" {
			n, _ = strconv.ParseFloat(m[1], 64)
		}
		if n < 0 || n*unit.Seconds() > 10*MaxBelieved.Seconds() {
			return 0, false
		}
		total, found = total+time.Duration(n*float64(unit)), true
		s = s[len(m[0]):]
	}
	return total, found
}
