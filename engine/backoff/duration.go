package backoff

// This file reads durations as users of sleep, timeout, systemd and Go write them.

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

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
	total := 0.0
	for rest := s; ; {
		number, name, after := term(rest)
		size, known := text.Unit(name)
		if name == "" && rest == s && after == "" { // seconds without a unit stand alone
			size, known = time.Second, true
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil || !known || strings.Contains(number, "_") {
			return 0, strconv.ErrSyntax
		}
		total += value * float64(size)
		if rest = after; rest == "" {
			break
		}
	}
	if total >= math.MaxInt64 {
		return 0, strconv.ErrRange
	}
	return time.Duration(math.Round(total)), nil
}

// term splits the first number and its unit off.
func term(s string) (number, unit, rest string) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == '_' || exponent(s, i)) {
		i++
	}
	number, s = s[:i], s[i:]
	if i = strings.IndexAny(s, "0123456789.+-_"); i < 0 {
		i = len(s)
	}
	return number, s[:i], s[i:]
}

// exponent reports whether s[i] belongs to an exponent: 1e3, 1e-3.
func exponent(s string, i int) bool {
	digit := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	switch s[i] {
	case 'e', 'E':
		return i > 0 && (digit(i+1) || i+1 < len(s) && (s[i+1] == '-' || s[i+1] == '+') && digit(i+2))
	case '-', '+':
		return i > 0 && (s[i-1] == 'e' || s[i-1] == 'E') && digit(i+1)
	}
	return false
}
