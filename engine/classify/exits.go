package classify

// This file reads and applies lists of results, such as "75,100-110,KILL,timeout":
// the EXITS of flags, and the exit lines of rules.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// Exits is a list of results, in the order in which they were written.
type Exits []exit

// exit is a range of codes, a signal, or one of the words timeout, signal and any.
type exit struct {
	text      string // as it was written
	codes     bool
	low, high int
	signal    attempt.Signal
}

// ParseExits reads a comma-separated list of codes (0 to 255), ranges of codes
// ("100-110"), signal names ("KILL", "SIGSEGV") and the words timeout, signal
// and any; names and words in any case.
func ParseExits(list string) (Exits, error) {
	if strings.TrimSpace(list) == "" {
		return nil, fmt.Errorf("%q names no exit; use codes (75), ranges (100-110), signals (KILL), timeout, "+
			"signal or any", list)
	}
	return appendExits(nil, list, "timeout", "signal", "any")
}

// UnmarshalText is ParseExits.
func (e *Exits) UnmarshalText(text []byte) (err error) {
	*e, err = ParseExits(string(text))
	return err
}

// appendExits appends the items of a list, which may also have these words.
func appendExits(exits Exits, list string, words ...string) (Exits, error) {
	exits = slices.Grow(exits, 1+strings.Count(list, ","))
	var err error
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		e := exit{text: item}
		switch {
		case strings.ContainsAny(item, " \t;") && !strings.Contains(item, "-"):
			parts := strings.FieldsFunc(item, func(c rune) bool { return strings.ContainsRune(" \t;", c) })
			return nil, fmt.Errorf("%q is no item; separate items by single commas, as in %s", item,
				strings.Join(parts, ","))
		case item == "":
			return nil, errors.New("an item of the list is empty; separate items by single commas, as in 75,111")
		case item[0] >= '0' && item[0] <= '9':
			e.codes = true
			e.low, e.high, err = parseCodes(item)
		case slices.Contains(words, strings.ToLower(item)):
			e.text = strings.ToLower(item)
		default:
			if e.signal, err = attempt.ParseSignal(item); err != nil {
				valid := append([]string{"a code from 0 to 255", "a range (100-110)", "a signal (KILL)"}, words...)
				last := len(valid) - 1
				err = fmt.Errorf("%q is not an exit; use %s or %s", item, strings.Join(valid[:last], ", "), valid[last])
			}
		}
		if err != nil {
			return nil, err
		}
		exits = append(exits, e)
	}
	return exits, nil
}

// HTTPStatus is the error about a status of HTTP in place of an exit code.
type HTTPStatus string

func (s HTTPStatus) Error() string {
	return fmt.Sprintf("%q is no exit code (0 to 255) but a status of HTTP, which stands in the output", string(s))
}

func parseCodes(item string) (low, high int, err error) {
	from, to, isRange := strings.Cut(item, "-")
	if !isRange {
		to = from
	}
	first, err1 := strconv.ParseUint(from, 10, 8)
	last, err2 := strconv.ParseUint(to, 10, 8)
	status, _ := strconv.Atoi(item)
	switch {
	case 400 <= status && status <= 599:
		return 0, 0, HTTPStatus(item)
	case err1 != nil || err2 != nil:
		return 0, 0, fmt.Errorf("%q is not an exit code; codes are whole numbers from 0 to 255, "+
			"ranges are written 100-110", item)
	case first > last:
		return 0, 0, fmt.Errorf("the range %q ends before it begins; did you mean %d-%d?", item, last, first)
	}
	return int(first), int(last), nil
}

// Match returns the first item that names r, as it was written, and whether
// there is one.
func (x Exits) Match(r attempt.Result) (item string, ok bool) {
	i := slices.IndexFunc(x, func(e exit) bool { return e.matches(r) })
	if i < 0 {
		return "", false
	}
	return x[i].text, true
}

// Codes are the codes and ranges of the list, which alone name a command that could not be
// started.
func (x Exits) Codes() Exits {
	return slices.DeleteFunc(slices.Clone(x), func(e exit) bool { return !e.codes })
}

// matches: timeout, 124 and any alone name an attempt that hit its limit, whatever its
// command then exited with; 137 names a death by KILL as well as the exit code 137.
func (e exit) matches(r attempt.Result) bool {
	code := r.ExitCode
	if r.TimedOut {
		code = exitcodes.Timeout
	}
	switch {
	case e.codes:
		return e.low <= code && code <= e.high
	case e.text == "any":
		return code != 0
	case e.text == "timeout":
		return r.TimedOut
	}
	return !r.TimedOut && r.Signal != "" && (e.signal == "" || e.signal == r.Signal)
}

// evidence reports whether the result is one that a rule names: a code alone does not
// stand for a signal, but 128+n does, by which a shell shows that signal n ended a
// command of its own.
func (e exit) evidence(r attempt.Result) bool {
	if e.codes {
		return r.Signal == "" && e.low <= r.ExitCode && r.ExitCode <= e.high
	}
	n, portable := exitcodes.SignalNumber(string(e.signal))
	return r.Signal == e.signal || r.Signal == "" && portable && r.ExitCode == exitcodes.OfSignal(n)
}
