package classify

// This file reads and applies EXITS lists, such as "75,100-110,KILL,timeout":
// which results of an attempt a rule speaks of.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// Exits is a list of results, in the order in which they were written.
type Exits []exit

type exitKind int

const (
	exitCodes   exitKind = iota // codes from low to high
	exitSignal                  // ended by one signal, or by any where it is ""
	exitTimeout                 // ended by --timeout
	exitAny                     // any non-zero result
)

type exit struct {
	text      string
	kind      exitKind
	low, high int
	signal    attempt.Signal
}

// ParseExits reads a comma-separated list of codes (0 to 255), ranges of codes
// ("100-110"), signal names ("KILL", "SIGSEGV") and the words timeout, signal
// and any.
func ParseExits(list string) (Exits, error) {
	if strings.TrimSpace(list) == "" {
		return nil, fmt.Errorf("%q names no exit; use codes (75), ranges (100-110), signals (KILL), timeout, signal or any", list)
	}
	var exits Exits
	for item := range strings.SplitSeq(list, ",") {
		e, err := parseExit(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		exits = append(exits, e)
	}
	return exits, nil
}

func parseExit(item string) (exit, error) {
	switch item {
	case "":
		return exit{}, errors.New("an item of the list is empty; separate items by single commas, as in 75,111")
	case "timeout":
		return exit{text: item, kind: exitTimeout}, nil
	case "any":
		return exit{text: item, kind: exitAny}, nil
	case "signal":
		return exit{text: item, kind: exitSignal}, nil
	}
	if item[0] >= '0' && item[0] <= '9' {
		return parseCodes(item)
	}
	signal, err := attempt.ParseSignal(item)
	if err != nil {
		return exit{}, fmt.Errorf("%q is not an exit; use a code from 0 to 255, a range (100-110), a signal (KILL), timeout, signal or any", item)
	}
	return exit{text: item, kind: exitSignal, signal: signal}, nil
}

func parseCodes(item string) (exit, error) {
	low, high, isRange := strings.Cut(item, "-")
	if !isRange {
		high = low
	}
	e := exit{text: item, kind: exitCodes}
	for _, end := range []struct {
		text string
		code *int
	}{{low, &e.low}, {high, &e.high}} {
		code, err := strconv.ParseUint(end.text, 10, 8)
		if err != nil {
			return exit{}, fmt.Errorf("%q is not an exit code; codes are whole numbers from 0 to 255, ranges are written 100-110", item)
		}
		*end.code = int(code)
	}
	if e.low > e.high {
		return exit{}, fmt.Errorf("the range %q ends before it begins; did you mean %d-%d?", item, e.high, e.low)
	}
	return e, nil
}

// Match returns the first item that names r, as it was written, and whether
// there is one.
func (x Exits) Match(r attempt.Result) (item string, ok bool) {
	for _, e := range x {
		if e.matches(r) {
			return e.text, true
		}
	}
	return "", false
}

// MatchCode is Match by codes and ranges alone: the words and signals do not
// count.
func (x Exits) MatchCode(r attempt.Result) (item string, ok bool) {
	for _, e := range x {
		if e.kind == exitCodes && e.matches(r) {
			return e.text, true
		}
	}
	return "", false
}

// matches: an attempt that hit its limit is named by timeout, 124 and any
// alone, whatever its command then exited with; 137 names a death by KILL as
// much as the exit code 137.
func (e exit) matches(r attempt.Result) bool {
	if r.TimedOut {
		return e.kind == exitTimeout || e.kind == exitAny || e.kind == exitCodes && e.low <= exitcodes.Timeout && exitcodes.Timeout <= e.high
	}
	switch e.kind {
	case exitCodes:
		return e.low <= r.ExitCode && r.ExitCode <= e.high
	case exitSignal:
		return r.Signal != "" && (e.signal == "" || e.signal == r.Signal)
	case exitAny:
		return r.ExitCode != 0
	default:
		return false
	}
}
