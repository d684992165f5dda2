package backoff

// This file reads durations as users of sleep, timeout and Go write them.

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a Go duration ("250ms", "1m30s") or a bare number of
// seconds ("5", "0.5"). It refuses negative durations and those beyond
// Longest; what is more than 0 but less than a nanosecond is a nanosecond.
func ParseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		tiny := d == 0 && strings.ContainsAny(s, "123456789")
		switch {
		case d < 0, tiny && s[0] == '-':
			return 0, negative(s)
		case tiny: // 0 means no limit, which is not what a very small one means
			return 1, nil
		}
		return d, nil
	}
	seconds, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || strings.Contains(s, "_") || math.IsNaN(seconds) || seconds >= Longest.Seconds():
		return 0, fmt.Errorf("%q is no duration (0 to 2562047h); use one such as 250ms, 5s or 1m30s, or a number of seconds", s)
	case seconds < 0:
		return 0, negative(s)
	}
	d := time.Duration(math.Round(seconds * float64(time.Second)))
	if seconds > 0 {
		d = max(d, 1)
	}
	return d, nil
}

func negative(s string) error {
	return fmt.Errorf("%q is negative; use a duration of 0 or more, such as 250ms or 5s", s)
}
