//go:build unix

package signals

// This file translates between the names of signals, which the pure packages use,
// and this system's numbers.

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
)

// NumberOf returns this system's number of a signal, and whether it has it.
func NumberOf(s attempt.Signal) (int, bool) {
	if rest, ok := strings.CutPrefix(string(s), "SIGRTMIN"); ok && realTimeMin > 0 {
		n, err := strconv.Atoi("0" + strings.TrimPrefix(rest, "+"))
		return realTimeMin + n, err == nil && realTimeMin+n <= realTimeMax
	}
	n := unix.SignalNum(string(s))
	return int(n), n != 0
}

// NameOf returns the name of this system's signal n. The two that the C
// library keeps for itself (32 and 33 on Linux) have only a number.
func NameOf(n syscall.Signal) attempt.Signal {
	name := unix.SignalName(n)
	switch over := int(n) - realTimeMin; {
	case name != "":
	case realTimeMin == 0 || over < 0:
		name = "SIG" + strconv.Itoa(int(n))
	case over == 0:
		name = "SIGRTMIN"
	default:
		name = "SIGRTMIN+" + strconv.Itoa(over)
	}
	return attempt.Signal(name)
}
