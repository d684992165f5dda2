package attempt

// This file names signals. Pure packages know a signal by its name, since numbers differ
// between systems (USR1 is 10 on Linux and 30 on macOS).

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Signal is a signal's name with its prefix, such as "SIGKILL", or "" for no
// signal. Real-time signals are "SIGRTMIN", "SIGRTMIN+1" and so on.
type Signal string

// signalNames are the signals that a user may name: POSIX.1-2017 <signal.h> and the
// additions of Linux (signal(7)) and the BSDs. One that a system does not have matches
// nothing there.
var signalNames = []string{
	"ABRT", "ALRM", "BUS", "CHLD", "CONT", "EMT", "FPE", "HUP", "ILL", "INFO", "INT", "IO", "IOT", "KILL",
	"PIPE", "POLL", "PROF", "PWR", "QUIT", "SEGV",
	"STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP", "TTIN", "TTOU", "URG", "USR1", "USR2", "VTALRM", "WINCH", "XCPU",
	"XFSZ", "RTMIN", "RTMAX",
}

// firstNames are the names in results of signals that have two on Linux.
var firstNames = map[string]string{"IOT": "ABRT", "POLL": "IO"}

// realTimeSignals is the number of signals of Linux from SIGRTMIN (34, as glibc counts) to
// SIGRTMAX (64), both included.
const realTimeSignals = 31

// ParseSignal reads a signal's name with or without SIG, in any case
// ("kill", "SIGTERM", "RTMIN+2").
func ParseSignal(s string) (Signal, error) {
	name := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	if signal, ok := realTime(name); ok {
		return signal, nil
	}
	if slices.Contains(signalNames, name) {
		return Signal("SIG" + cmp.Or(firstNames[name], name)), nil
	}
	return "", fmt.Errorf("%q is not a signal name; use one such as TERM, INT, HUP or KILL", s)
}

// realTime reads RTMIN, RTMAX, RTMIN+n and RTMAX-n.
func realTime(name string) (Signal, bool) {
	n := 0
	rest, found := strings.CutPrefix(name, "RTMIN")
	if !found {
		n = realTimeSignals - 1
		rest, found = strings.CutPrefix(name, "RTMAX")
	}
	if rest != "" {
		offset, err := strconv.Atoi(rest)
		n += offset
		found = found && err == nil && (rest[0] == '+' || rest[0] == '-')
	}
	switch {
	case !found || n < 0 || n >= realTimeSignals:
		return "", false
	case n == 0:
		return "SIGRTMIN", true
	}
	return Signal("SIGRTMIN+" + strconv.Itoa(n)), true
}
