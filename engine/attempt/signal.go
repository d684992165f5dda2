package attempt

// This file names signals. The pure rooms know a signal by its name, since
// numbers differ between systems (USR1 is 10 on Linux and 30 on macOS); the
// rooms at the edge translate.

import (
	"fmt"
	"strconv"
	"strings"
)

// Signal is a signal's name with its prefix, such as "SIGKILL", or "" for no
// signal. Real-time signals are "SIGRTMIN", "SIGRTMIN+1" and so on.
type Signal string

// signalNames are the signals that a user may name: POSIX.1-2017 <signal.h>
// and what Linux (signal(7)) and the BSDs add to it. Those that a system does
// not have can be named there and match nothing.
var signalNames = []string{
	"ABRT", "ALRM", "BUS", "CHLD", "CONT", "EMT", "FPE", "HUP", "ILL", "INFO", "INT", "IO", "IOT", "KILL", "PIPE", "POLL", "PROF", "PWR", "QUIT", "SEGV",
	"STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP", "TTIN", "TTOU", "URG", "USR1", "USR2", "VTALRM", "WINCH", "XCPU", "XFSZ", "RTMIN", "RTMAX",
}

// firstName returns the name that results carry of a signal that has two on
// Linux.
func firstName(name string) string {
	switch name {
	case "IOT":
		return "ABRT"
	case "POLL":
		return "IO"
	}
	return name
}

// realTimeSignals is how many signals Linux has from SIGRTMIN (34, as glibc
// counts) to SIGRTMAX (64), both included.
const realTimeSignals = 31

// ParseSignal reads a signal's name with or without SIG, in any case
// ("kill", "SIGTERM", "RTMIN+2").
func ParseSignal(s string) (Signal, error) {
	name := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	if n, ok := realTime(name); ok {
		return realTimeSignal(n), nil
	}
	for _, known := range signalNames {
		if name == known {
			return Signal("SIG" + firstName(name)), nil
		}
	}
	return "", fmt.Errorf("%q is not a signal name; use one such as TERM, INT, HUP or KILL", s)
}

// realTime reads RTMIN, RTMAX, RTMIN+n and RTMAX-n as an offset from RTMIN.
func realTime(name string) (int, bool) {
	base, rest := 0, ""
	switch {
	case strings.HasPrefix(name, "RTMIN"):
		rest = name[len("RTMIN"):]
	case strings.HasPrefix(name, "RTMAX"):
		base, rest = realTimeSignals-1, name[len("RTMAX"):]
	default:
		return 0, false
	}
	if rest == "" {
		return base, true
	}
	if rest[0] != '+' && rest[0] != '-' {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	if err != nil || base+n < 0 || base+n >= realTimeSignals {
		return 0, false
	}
	return base + n, true
}

func realTimeSignal(offset int) Signal {
	if offset == 0 {
		return "SIGRTMIN"
	}
	return Signal("SIGRTMIN+" + strconv.Itoa(offset))
}
