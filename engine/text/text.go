// Package text masks secrets, cuts, wraps and cleans text, and writes JSON. Its functions
// take text that need not be UTF-8. It imports the standard library only, so every other
// package may import it.
package text

import (
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// longestQuote is the limit of Quote, in bytes.
const longestQuote = 200

// Count is a number with its word.
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}

// Quote quotes a word in an error, or the beginning of a long one.
func Quote(s string) string {
	if len(s) <= longestQuote {
		return strconv.Quote(s)
	}
	return strconv.Quote(Cut(s, longestQuote)) + "..."
}

// Cut returns at most so many bytes of s, cut between characters.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// CutMiddle replaces the middle of s by " ... " if s is longer than so many bytes.
func CutMiddle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := len(s) - most/2
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	return Cut(s, most/2) + " ... " + s[end:]
}

// Wrap breaks s at blanks into lines of at most width bytes. A longer word stays whole.
func Wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// Printable replaces control characters, line separators and what changes the direction of
// a text by blanks.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// IsControl reports whether a character is a control of a terminal (C0, C1), a separator of
// lines, or one that changes the direction of what follows (Unicode TR 36, section 2.2).
func IsControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= '\u2028' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// OneLine is Printable, with U+FFFD for what is not UTF-8, and without blanks at the ends.
func OneLine(s string) string {
	return strings.TrimSpace(Printable(strings.ToValidUTF8(s, "\uFFFD")))
}

// Lower returns s with A to Z in lower case. Unlike with strings.ToLower, every byte keeps
// its place.
func Lower(s []byte) []byte {
	lower := slices.Clone(s)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return lower
}

// Milliseconds is a duration in milliseconds, with decimals.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// MS is a duration that JSON has in milliseconds, rounded to the microsecond.
type MS time.Duration

// MarshalJSON writes d.
func (d MS) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, Milliseconds(time.Duration(d).Round(time.Microsecond)), 'f', -1, 64), nil
}

// Unit returns the length of a unit of time by the names of Go, sleep(1), systemd.time(7)
// and servers.
func Unit(name string) (time.Duration, bool) {
	switch name {
	case "ns", "nsec":
		return time.Nanosecond, true
	case "us", "\u00b5s", "\u03bcs", "usec":
		return time.Microsecond, true
	case "ms", "msec", "msecs", "millis", "millisecond", "milliseconds":
		return time.Millisecond, true
	case "s", "sec", "secs", "second", "seconds":
		return time.Second, true
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute, true
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour, true
	case "d", "day", "days":
		return 24 * time.Hour, true
	case "w", "week", "weeks":
		return 7 * 24 * time.Hour, true
	}
	return 0, false
}

// Shell is the command for a script in the system's shell: args are its positional
// parameters from $1 on, $0 is "retry" (POSIX, sh -c). In Windows args follow the script.
func Shell(script string, args []string) []string {
	if runtime.GOOS == "windows" {
		return append([]string{"cmd", "/c", script}, args...)
	}
	return append([]string{"/bin/sh", "-c", script, "retry"}, args...)
}

// ReadUpTo reads r to its end, but at most so many bytes, and reports whether there is more.
// More is no error; what was read before an error is returned as well.
func ReadUpTo(r io.Reader, most int64) (data []byte, more bool, err error) {
	data, err = io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(data)) > most {
		return data[:most], true, nil
	}
	return data, false, err
}
