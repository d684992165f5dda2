// Package text holds the helpers for text that several packages need: secrets
// masked, long text cut and wrapped, escape sequences removed.
//
// Every function is pure, and works on bytes that need not be UTF-8. The package
// imports the standard library only, so every other package may import it.
package text

import (
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// longestQuote bounds what Quote shows, in bytes.
const longestQuote = 200

// Quote quotes a word in an error, or the beginning of a long one.
func Quote(s string) string {
	if len(s) <= longestQuote {
		return strconv.Quote(s)
	}
	return strconv.Quote(Cut(s, longestQuote)) + "..."
}

// Cut returns the beginning of s, at most so many bytes, cut between characters.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// CutMiddle returns s with its middle replaced by " ... " where it is longer than so
// many bytes.
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

// Printable replaces control characters by blanks, and line separators.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// OneLine makes s fit for one line: what is not UTF-8 is replaced by U+FFFD, control
// characters by blanks; blanks at the ends are removed.
func OneLine(s string) string {
	return strings.TrimSpace(Printable(strings.ToValidUTF8(s, "\uFFFD")))
}

// Lower returns s with the letters A to Z in lower case. Every byte keeps its place,
// which strings.ToLower does not promise.
func Lower[T string | []byte](s T) T {
	lower := append([]byte(nil), s...)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return T(lower)
}

// Milliseconds is a duration in milliseconds, with what is below one as decimals.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Shell is the command by which the system's shell runs a script: args are its
// positional parameters from $1 on, and $0 is the name of this program (POSIX, sh -c).
// The shell of Windows gets them as words behind the script.
func Shell(script string, args []string) []string {
	if runtime.GOOS == "windows" {
		return append([]string{"cmd", "/c", script}, args...)
	}
	return append([]string{"/bin/sh", "-c", script, "retry"}, args...)
}
