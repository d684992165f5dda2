package text

import "time"

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
