package option

// This file gives the values of flags their meaning: by the type of the field, and
// for texts, numbers and durations by its tags. Errors quote the text and say what would
// be valid; which flag it was is added where the flag is known. No other file of this
// package imports a package that touches the system.

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"math"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/probe"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/engine/rehearse"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/engine/store"
	"github.com/retrysh/retry/engine/telemetry"
	"github.com/retrysh/retry/exitcodes"
)

type (
	processConfig = proc.Config
	WaitTarget    = probe.Target
	storeAddress  = store.Address

	delays   []time.Duration // separated by commas
	factor   float64         // of exponential delays
	callRate float64         // calls a second, as in 100 or 100/s
	nameList []string        // of variables, and globs on them, separated by commas

	// retryAfter is auto, off or a regular expression.
	retryAfter struct {
		off bool
		re  *regexp.Regexp
	}
)

func LooksLikeTarget(s string) bool { return probe.LooksLike(s) }

// latestTime bounds a time in seconds: it is in the year 5138.
const latestTime = 1e11 - 1e-3

// longestKey is the greatest length of a key, in code points.
const longestKey = 200

// The slowest and the fastest server that a simulation knows. A call takes at
// least a nanosecond.
const (
	leastCapacity = 0.001
	mostCapacity  = 1e9
)

// parse reads the value of a setting. The value of a switch becomes true or false, and
// that of a flag that may be repeated is added to those before it.
func parse(to any, s *Setting) (err error) {
	f, text := s.Flag, s.Value
	switch v := to.(type) {
	case *bool:
		truth := Truth(text)
		if truth == "" {
			return fmt.Errorf("%q is not true or false", text)
		}
		s.Value, *v = truth, truth == "true"
	case *string:
		*v, err = text, checkText(f, text)
	case *int:
		// 2^31 - 1 is the greatest number that an int holds on every system.
		err = integer(v, text, cmp.Or(f.Tag("is"), "a whole number"), bound(f, "from", 1), bound(f, "to", math.MaxInt32))
		if zero := f.Tag("zero"); err != nil && zero != "" {
			err = fmt.Errorf("%w; 0 is %s", err, zero)
		}
	case *uint64:
		err = integer(v, text, "a whole number", 0, math.MaxUint64)
	case *factor:
		*v, err = decimal[factor](text, "", 1, math.MaxFloat64, "a number of at least 1, such as 2 or 1.5")
	case *callRate:
		*v, err = decimal[callRate](text, "/s", leastCapacity, mostCapacity, fmt.Sprintf("a number of calls a second from %v to %d, such as 100", leastCapacity, int(mostCapacity)))
	case *time.Duration: // 0 or more
		if *v, err = backoff.ParseDuration(text); err == nil && *v == 0 && f.Tag("is") == "above 0" {
			err = fmt.Errorf("%q leaves no time; use a duration above 0, such as 250ms", text)
		}
	case *time.Time:
		var seconds float64
		seconds, err = decimal[float64](text, "", -latestTime, latestTime, "a Unix time in seconds, such as 1795213573")
		*v = time.UnixMilli(int64(seconds * 1000))
	default:
		return parseOwn(to, s)
	}
	return err
}

// parseOwn reads a value of a type of the program's own, or of a list.
func parseOwn(to any, s *Setting) (err error) {
	text := s.Value
	switch v := to.(type) {
	case *backoff.Jitter:
		*v, err = backoff.ParseJitter(text)
	case *delays:
		*v, err = parseDelays(text)
	case *classify.Exits:
		*v, err = classify.ParseExits(text)
	case **linematch.Pattern:
		if *v, err = linematch.Parse(text); err == nil && text == "" {
			err = errors.New(`"" matches every line; if that is meant, write "^"`)
		}
	case *rotate.List:
		*v, err = rotate.Parse(text)
	case *rehearse.Steps:
		*v, err = rehearse.Parse(text, proc.NumberOf)
	case *telemetry.StatsD:
		*v, err = telemetry.ParseStatsD(text)
	case **WaitTarget:
		*v, err = probe.Parse(text)
	case **storeAddress:
		*v = new(storeAddress)
		**v, err = store.ParseAddress(text)
	case *attempt.Result:
		*v, err = parseResult(text)
	case *attempt.Signal:
		*v, err = parseSignal(text)
	case *retryAfter:
		*v, err = parseRetryAfter(text)
	case *nameList:
		*v, err = parseNames(text)
	case encoding.TextUnmarshaler: // the guards
		err = v.UnmarshalText([]byte(text))
	default:
		list := reflect.ValueOf(to).Elem()
		element := reflect.New(list.Type().Elem())
		if err = parse(element.Interface(), s); err == nil {
			list.Set(reflect.Append(list, element.Elem()))
		}
	}
	return err
}

// checkText checks what remains text.
func checkText(f *Flag, text string) error {
	switch f.Tag("is") {
	case "file":
		return notEmpty(text, "a file name")
	case "script": // the shell checks its syntax
		return notEmpty(text, "a shell command; write it as in 'make clean'")
	case "idempotency key":
		return notEmpty(text, "a key; give any text, such as a build number")
	case "key": // of what guards protect
		return printable(text, "a key", "name what the guards protect, such as npm or db-prod", longestKey)
	case "name":
		if text == "all" {
			return errors.New(`"all" is not a name: it means every run; use another one, such as backup`)
		}
		return printable(text, "a name", "call the run as what it does, such as backup", engine.LongestName)
	case "metrics file": // that Prometheus's textfile collector reads
		return telemetry.CheckMetricsFile(text)
	case "collector":
		return telemetry.CheckOTLP(text)
	}
	return oneOf(text, f.Words())
}

// oneOf is an error where a value is none of the words.
func oneOf(value string, words []string) error {
	if slices.Contains(words, value) || len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	valid := words[last]
	if last > 0 {
		valid = strings.Join(words[:last], ", ") + " or " + valid
	}
	return fmt.Errorf("%q is not %s", value, valid)
}

// bound is a bound of the tags, or else the usual one.
func bound(f *Flag, tag string, usual uint64) uint64 {
	if n, err := strconv.ParseUint(f.Tag(tag), 10, 64); err == nil {
		return n
	}
	return usual
}

// integer reads a number within bounds.
func integer[T ~int | ~uint64](to *T, text, what string, least, most uint64) error {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil || v < least || v > most {
		return fmt.Errorf("%q is not %s from %d to %d", text, what, least, most)
	}
	*to = T(v)
	return nil
}

// decimal reads a number within bounds, which may have a unit behind it.
func decimal[T ~float64](text, unit string, least, most float64, what string) (T, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, unit), 64)
	if err != nil || !(v >= least && v <= most) {
		return 0, fmt.Errorf("%q is not %s", text, what)
	}
	return T(v), nil
}

func notEmpty(text, what string) error {
	if text == "" {
		return errors.New(`"" is not ` + what)
	}
	return nil
}

// printable refuses a text that is empty, too long or has control characters in it.
func printable(text, what, hint string, longest int) error {
	if n := utf8.RuneCountInString(text); n > longest {
		return fmt.Errorf("%q has %d characters; %s has at most %d", text, n, what, longest)
	}
	for i, c := range text {
		if !unicode.IsPrint(c) || c == utf8.RuneError {
			return fmt.Errorf("%q is not printable, at byte %d; %s is 1 to %d printable characters", text, i, what, longest)
		}
	}
	return notEmpty(text, what+"; "+hint)
}

func parseDelays(text string) (all delays, err error) {
	for item := range strings.SplitSeq(text, ",") {
		d, err := backoff.ParseDuration(strings.TrimSpace(item))
		if err != nil {
			return nil, fmt.Errorf("%w; separate several by commas, as in 1s,5s,30s", err)
		}
		all = append(all, d)
	}
	return all, nil
}

func parseNames(text string) (nameList, error) {
	names := strings.Split(text, ",")
	for _, name := range names {
		if _, err := path.Match(name, ""); err != nil || name == "" || strings.Contains(name, "=") {
			return nil, fmt.Errorf("%q is not a variable's name or a glob on names, as in AWS_PROFILE,PG*", name)
		}
	}
	return names, nil
}

func parseRetryAfter(text string) (retryAfter, error) {
	switch text {
	case "auto", "off":
		return retryAfter{off: text == "off"}, nil
	case "":
		return retryAfter{}, errors.New(`"" is not auto, off or a regular expression`)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		_, err = linematch.Parse(text) // says it in one line
	}
	return retryAfter{re: re}, err
}

// parseSignal reads a signal of this system by its name or, as timeout(1) has it, its
// number.
func parseSignal(text string) (s attempt.Signal, err error) {
	var known bool
	if n, wrong := strconv.Atoi(text); wrong == nil {
		s, known = proc.SignalOf(n)
	} else if s, err = attempt.ParseSignal(text); err == nil {
		_, known = proc.NumberOf(s)
	}
	if err == nil && !known {
		err = fmt.Errorf("this system has no signal %q; use one such as TERM, INT, HUP or KILL", text)
	}
	return s, err
}

// parseResult reads an exit code or a signal, which --explain judges.
func parseResult(text string) (r attempt.Result, err error) {
	if code, err := strconv.ParseUint(text, 10, 8); err == nil {
		return attempt.Result{ExitCode: int(code)}, nil
	}
	if r.Signal, err = attempt.ParseSignal(text); err != nil {
		return r, fmt.Errorf("%q is not an exit code from 0 to 255 or a signal such as SIGKILL", text)
	}
	number, known := proc.NumberOf(r.Signal)
	if !known {
		err = fmt.Errorf("this system has no signal %q", text)
	}
	r.ExitCode = exitcodes.OfSignal(number)
	return r, err
}

// setStreams takes over the words of --stdin, --stdout and --stderr.
func setStreams(c *processConfig, stdin, stdout, stderr string) {
	c.Stdin = map[string]stdio.InputMode{"inherit": stdio.Inherit, "replay": stdio.Replay, "null": stdio.Null}[stdin]
	output := map[string]stdio.OutputMode{"stream": stdio.Stream, "hold": stdio.Hold}
	c.Stdout, c.Stderr = output[stdout], output[stderr]
}
