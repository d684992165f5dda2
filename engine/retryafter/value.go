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

// readValue reads a number in the unit, an epoch, a duration or a date.
func readValue(s string, unit time.Duration, now time.Time) (time.Duration, string) {
	s = trimValue(s)
	if when, ok := parseDate(s); ok {
		return until(when, now)
	}
	digits := leadingNumber.get().FindString(s)
	if digits == "" {
		return none, "is neither a number nor a date"
	}
	if wait, ok := parsePhrase(s); ok {
		return believe(wait)
	}
	if rest := s[len(digits):]; rest != "" && isWordByte(rest[0]) {
		return none, "is neither a number nor a date" // 1e3, 0x1F
	}
	return readNumber(digits, unit, now)
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// leadingNumber is the decimal number that a value begins with.
var leadingNumber = lazy{pattern: "^" + number}

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

// until returns the time from now to the moment: 0, with a word, for one that
// has passed.
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
// 3339, and the form in which Boulder (Let's Encrypt) says when a limit ends.
var dateLayouts = []string{
	"Mon, 2 Jan 2006 15:04:05 GMT",
	"Monday, 02-Jan-06 15:04:05 GMT",
	time.ANSIC,
	time.RFC3339,
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 UTC",
	"2006-01-02T15:04:05",
}

// parseDate reads a date at the beginning of s; what follows it is ignored.
func parseDate(s string) (time.Time, bool) {
	if len(s) < 19 || len(s) > 200 || !strings.Contains(s, ":") {
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		end := len(s)
		switch {
		case strings.HasSuffix(layout, "GMT"), strings.HasSuffix(layout, "UTC"):
			zone := layout[len(layout)-3:]
			i := strings.Index(strings.ToUpper(s), zone)
			if i < 0 {
				continue
			}
			end = i + 3
		case layout == time.ANSIC:
			end = min(end, len(time.ANSIC))
		default:
			end = strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789-:TtZz+.", r) })
			if layout[10] == ' ' && end == 10 {
				if end = strings.IndexFunc(s[11:], func(r rune) bool { return !strings.ContainsRune("0123456789-:Zz+.", r) }); end >= 0 {
					end += 11
				}
			}
			if end < 0 {
				end = len(s)
			}
			for end > 0 && (s[end-1] == '.' || s[end-1] == ':') {
				end--
			}
		}
		if end > len(s) {
			continue
		}
		if t, err := time.Parse(layout, s[:end]); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// parsePhrase reads a duration at the beginning of s: "7.5s", "1m30s", "2
// minutes", "1 minute and 30 seconds", "a minute". What follows is ignored.
func parsePhrase(s string) (time.Duration, bool) {
	var total time.Duration
	found := false
	for range 4 { // days, hours, minutes, seconds
		s = strings.TrimLeft(s, " ,\"'(~")
		s = strings.TrimPrefix(s, "and ")
		digits := leadingNumber.get().FindString(s)
		rest := s[len(digits):]
		if digits == "" {
			switch {
			case strings.HasPrefix(s, "a "):
				digits, rest = "1", s[2:]
			case strings.HasPrefix(s, "one "):
				digits, rest = "1", s[4:]
			default:
				return total, found
			}
		}
		rest = strings.TrimLeft(rest, " ")
		n := 0
		for n < len(rest) && (rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z') {
			n++
		}
		unit, ok := text.Unit(strings.ToLower(rest[:n]))
		if !ok {
			return total, found
		}
		value, err := strconv.ParseFloat(digits, 64)
		if err != nil || value < 0 || value*unit.Seconds() > 10*MaxBelieved.Seconds() {
			return 0, false
		}
		total += time.Duration(value * float64(unit))
		found = true
		s = strings.TrimPrefix(rest[n:], "(s)")
	}
	return total, found
}
