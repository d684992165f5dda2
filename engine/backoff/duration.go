package backoff

// This file reads durations as users of sleep, timeout, systemd and Go write them.

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/retrysh/retry/engine/text"
)

// ParseDuration reads a Go duration ("250ms", "1m30s"), one with the units of sleep and
// systemd ("10sec", "5min", "1d12h", "infinity"), or a number of seconds ("5", "0.5"). It
// refuses negative durations. Anything above 0 is at least a nanosecond, since 0 means no
// limit, and at most Longest.
func ParseDuration(s string) (time.Duration, error) {
	word, minus := strings.CutPrefix(s, "-")
	d, err := time.ParseDuration(word)
	switch {
	case strings.EqualFold(word, "infinity"), strings.EqualFold(word, "inf"):
		d, err = Longest, nil
	case err != nil || d < 0:
		d, err = terms(strings.TrimPrefix(word, "+"))
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(word), "e")
	more := d > 0 || strings.ContainsAny(mantissa, "123456789")
	switch {
	case err != nil:
		return 0, notADuration(s)
	case minus && more:
		return 0, fmt.Errorf("%q is negative; use a duration of 0 or more, such as 250ms or 5s", s)
	case more:
		return max(d, 1), nil
	}
	return d, nil
}

// notADuration is the error for such a text.
func notADuration(s string) error {
	if whole := joined(s); whole != "" {
		return fmt.Errorf("%q is not a duration; write a number and its unit in one word, as in %s", s, whole)
	}
	return fmt.Errorf("%q is not a duration; use one such as 250ms, 5s, 1m30s or 1d, or a number of seconds", s)
}

// joined is a text without blanks, if these stand between numbers and their units only, and
// it is a duration then; else it is "".
func joined(s string) string {
	words := strings.Fields(s)
	for i, word := range words {
		if isUnit := unicode.IsLetter(rune(word[0])); isUnit != (i%2 == 1) {
			return ""
		}
	}
	whole := strings.Join(words, "")
	if _, err := terms(whole); err != nil || len(words) < 2 {
		return ""
	}
	return whole
}

// terms reads a number of seconds, or numbers each with a unit.
func terms(s string) (time.Duration, error) {
	total, rest := 0.0, s
	for begin := true; begin || rest != ""; begin = false {
		value, after, err := number(rest)
		if err != nil {
			return 0, err
		}
		if begin && after == "" { // seconds without a unit stand alone
			after = "s"
		}
		rest = strings.TrimLeftFunc(after, unicode.IsLetter)
		size, known := text.Unit(strings.TrimSuffix(after, rest))
		if !known {
			return 0, strconv.ErrSyntax
		}
		total += value * float64(size)
	}
	if total >= math.MaxInt64 {
		return Longest, nil
	}
	return time.Duration(math.Round(total)), nil
}

// number splits off the longest number without a sign that s begins with, in one pass:
// digits, a point between or beside them, and an exponent. It is +Inf beyond a float64.
func number(s string) (value float64, rest string, err error) {
	digits := func(from int) int { return len(s) - len(strings.TrimLeft(s[from:], "0123456789")) }
	end := digits(0)
	if end < len(s) && s[end] == '.' {
		end = digits(end + 1)
	}
	if power := strings.TrimLeft(s[end:], "eE"); len(power) == len(s)-end-1 {
		power = strings.TrimPrefix(strings.TrimPrefix(power, "-"), "+")
		if from := len(s) - len(power); digits(from) > from {
			end = digits(from)
		}
	}
	value, err = strconv.ParseFloat(s[:end], 64)
	if math.IsInf(value, 1) {
		err = nil
	}
	return value, s[end:], err
}
