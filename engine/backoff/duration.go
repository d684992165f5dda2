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
// systemd ("10sec", "5min", "1d12h"), or a number of seconds ("5", "0.5"). It refuses
// negative durations and those beyond Longest. Anything above 0 is at least a nanosecond,
// since 0 means no limit.
func ParseDuration(s string) (time.Duration, error) {
	word, minus := strings.CutPrefix(s, "-")
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		d, err = terms(strings.TrimPrefix(word, "+"))
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(word), "e")
	more := d > 0 || strings.ContainsAny(mantissa, "123456789")
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration; use one such as 250ms, 5s, 1m30s or 1d, or a number of seconds", s)
	case minus && more:
		return 0, fmt.Errorf("%q is negative; use a duration of 0 or more, such as 250ms or 5s", s)
	case more:
		return max(d, 1), nil
	}
	return d, nil
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
		return 0, strconv.ErrRange
	}
	return time.Duration(math.Round(total)), nil
}

// number splits off the longest number without a sign that s begins with.
func number(s string) (value float64, rest string, err error) {
	end := len(s) - len(strings.TrimLeft(s, "0123456789.eE+-"))
	if strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		end = 0
	}
	value, err = strconv.ParseFloat(s[:end], 64)
	for ; err != nil && end > 0; end-- {
		value, err = strconv.ParseFloat(s[:end-1], 64)
	}
	return value, s[end:], err
}
