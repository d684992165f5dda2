package retryafter

// This file reads values: numbers, durations and dates, and says which of
// them are not to be believed.

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// maxDigits is more than any epoch in nanoseconds needs.
const maxDigits = 19

// value begins with a decimal number; a word may follow it directly (1e3, 0x1F).
var value = lazy{pattern: `^(` + number + `)(\w)?`}

// readWhole reads a value all of which is a number in the unit, an epoch, a duration or a date.
func readWhole(s string, unit time.Duration, now time.Time) (time.Duration, string) {
	s = trimValue(s)
	if when, rest, ok := parseDate(s); ok && rest == "" {
		return until(when, now)
	}
	if m := value.get().FindStringSubmatch(s); m != nil && m[1] == s {
		return readNumber(s, unit, now)
	}
	if wait, rest, ok := parsePhrase(s); ok && strings.Trim(rest, ".)") == "" {
		return believe(wait)
	}
	return none, "is neither a number nor a date"
}

// readValue reads a number in the unit, an epoch, a duration or a date at the beginning of s.
func readValue(s string, unit time.Duration, now time.Time) (time.Duration, string) {
	s = trimValue(s)
	if when, _, ok := parseDate(s); ok {
		return until(when, now)
	}
	m := value.get().FindStringSubmatch(s)
	if wait, _, ok := parsePhrase(s); ok && m != nil {
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
// or milliseconds if it is too large for a span.
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
		return until(time.UnixMilli(int64(n*1000)), now)
	case n*unit.Seconds() > MaxBelieved.Seconds():
		return none, "is absurd (" + s + ")"
	}
	return time.Duration(n * float64(unit)), ""
}

// until returns the time from now to the moment, none for one that has passed.
func until(when, now time.Time) (time.Duration, string) {
	wait := when.Sub(now)
	if wait < 0 {
		return none, "names a moment in the past"
	}
	return believe(wait)
}

func believe(wait time.Duration) (time.Duration, string) {
	if wait > MaxBelieved {
		return none, "is absurd (" + wait.Round(time.Hour).String() + ")"
	}
	return wait, ""
}

// dateLayouts are the three forms of HTTP-date (RFC 9110, section 5.6.7), with GMT, UTC or a
// numeric zone, and ISO 8601 with and without seconds and zone, of which one without zone is
// of UTC. Boulder (Let's Encrypt) writes one of these when a limit ends.
var dateLayouts = sync.OnceValue(func() (all []string) {
	for _, date := range []string{"Mon, 2 Jan 2006 15:04:05", "Monday, 2-Jan-06 15:04:05", "Mon, 2-Jan-2006 15:04:05"} {
		for _, zone := range []string{" GMT", " UTC", " Z0700", " Z07:00"} {
			all = append(all, date+zone)
		}
	}
	all = append(all, "Mon Jan _2 15:04:05 GMT 2006", "Mon Jan _2 15:04:05 UTC 2006", "Mon Jan _2 15:04:05 Z0700 2006",
		time.ANSIC)
	for _, date := range []string{
		"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "20060102T150405",
	} {
		for _, zone := range []string{"Z07:00", "Z0700", "Z07", " Z07:00", " Z0700", " UTC", " GMT", ""} {
			all = append(all, date+zone)
		}
	}
	return all
})

// longestDate is more than any of these needs. What follows is not looked at: each layout
// that does not fit copies the text.
const longestDate = 64

// parseDate reads a date at the beginning of s, behind which no digit stands, and returns the
// rest.
func parseDate(s string) (when time.Time, rest string, ok bool) {
	if !strings.ContainsAny(s, ":T") { // as every date has
		return time.Time{}, "", false
	}
	head := s[:min(len(s), longestDate)]
	for _, layout := range dateLayouts() {
		date := head
		when, err := time.Parse(layout, date)
		if e, isParse := err.(*time.ParseError); isParse && strings.HasPrefix(e.Message, ": extra text") &&
			!strings.ContainsAny(e.ValueElem[:1], "0123456789") {
			date = strings.TrimSuffix(head, e.ValueElem)
			when, err = time.Parse(layout, date)
		}
		if rest := s[len(date):]; err == nil && !goesOn(rest) {
			return when, rest, true
		}
	}
	return time.Time{}, "", false
}

// part begins what may be a part of the date in front of it: its seconds, or a zone.
var part = lazy{pattern: `^(?::\d| *(?:\+|-\d|GMT|UTC))`}

// goesOn reports whether a date goes on behind what a layout has read of it.
func goesOn(rest string) bool { return part.get().MatchString(rest) }

// span is one part of a duration in words.
var span = lazy{pattern: `^[ ,"'(~]*(?:and )?(?:(` + number + `)|(?:a|one) )["']? *([a-z]+)(?:\(s\))?`}

// parsePhrase reads a duration at the beginning of s: "7.5s", "1m30s", "2
// minutes", "1 minute and 30 seconds", "a minute", "'372' seconds". It returns the rest.
func parsePhrase(s string) (total time.Duration, rest string, found bool) {
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
			return 0, "", false
		}
		total, found = total+time.Duration(n*float64(unit)), true
		s = s[len(m[0]):]
	}
	return total, s, found
}
