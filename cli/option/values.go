package option

// This file gives the values of flags their meaning: a type a kind of value, and
// one function that reads them all from text. Errors quote the text and say what would
// be valid; which flag it was is added where the flag is known.

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
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
	"github.com/retrysh/retry/engine/rehearse"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/engine/telemetry"
	"github.com/retrysh/retry/exitcodes"
)

type (
	attemptCount int // 0 for no limit
	count        int // at least 1
	clientCount  int // of a simulation
	trialCount   int
	exitCode     int
	seed         uint64
	factor       float64         // of exponential delays
	callRate     float64         // calls a second, as in 100 or 100/s
	aboveZero    time.Duration   // more than 0
	delays       []time.Duration // separated by commas
	nameList     []string        // of variables, and globs on them, separated by commas

	fileName       string
	shellScript    string // the shell checks its syntax
	idempotencyKey string
	key            string // of what guards protect
	runName        string
	promFile       string         // that Prometheus's textfile collector reads
	otlpTarget     string         // auto or the address of a collector
	signalName     attempt.Signal // of this system, by its name or, as timeout(1) has it, its number

	// retryAfter is auto, off or a regular expression.
	retryAfter struct {
		off bool
		re  *regexp.Regexp
	}
)

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

// parse reads a value by its type. It does not know plain switches, texts and lists.
func parse(to any, text string) (known bool, err error) {
	switch v := to.(type) {
	case *time.Duration: // 0 or more
		*v, err = backoff.ParseDuration(text)
	case *backoff.Jitter:
		*v, err = backoff.ParseJitter(text)
	case *classify.Exits:
		*v, err = classify.ParseExits(text)
	case **linematch.Pattern:
		if *v, err = linematch.Parse(text); err == nil && text == "" {
			err = errors.New(`"" matches every line; if that is meant, write "^"`)
		}
	case *rotate.List:
		*v, err = rotate.Parse(text)
	case *rehearse.Steps:
		*v, err = rehearse.Parse(text, signalNumber)
	case *telemetry.StatsD:
		*v, err = telemetry.ParseStatsD(text)
	case **WaitTarget:
		*v, err = parseTarget(text)
	case **storeAddress:
		*v, err = parseStore(text)
	case *attempt.Result:
		*v, err = parseResult(text)
	case *signalName:
		*v, err = parseSignal(text)
	case *retryAfter:
		*v, err = parseRetryAfter(text)
	case *delays:
		*v, err = parseDelays(text)
	case *nameList:
		*v, err = parseNames(text)
	default:
		if known, err = parseNumber(to, text); known {
			return true, err
		}
		return parseText(to, text)
	}
	return true, err
}

// parseNumber reads numbers.
func parseNumber(to any, text string) (known bool, err error) {
	const whole = "a whole number"
	switch v := to.(type) {
	case *attemptCount: // 2^31 - 1 is the greatest number that an int holds on every system
		if err = integer(v, text, whole, 0, math.MaxInt32); err != nil {
			err = fmt.Errorf("%w; 0 is unlimited", err)
		}
	case *count:
		err = integer(v, text, whole, 1, math.MaxInt32)
	case *clientCount:
		err = integer(v, text, whole, 1, mostClients)
	case *trialCount:
		err = integer(v, text, whole, 1, mostTrials)
	case *exitCode:
		err = integer(v, text, "an exit code", 0, math.MaxUint8)
	case *seed:
		err = integer(v, text, whole, 0, math.MaxUint64)
	case *factor:
		*v, err = decimal[factor](text, "", 1, math.MaxFloat64, "a number of at least 1, such as 2 or 1.5")
	case *callRate:
		*v, err = decimal[callRate](text, "/s", leastCapacity, mostCapacity, fmt.Sprintf("a number of calls a second from %v to %d, such as 100", leastCapacity, int(mostCapacity)))
	case *time.Time:
		var seconds float64
		seconds, err = decimal[float64](text, "", -latestTime, latestTime, "a Unix time in seconds, such as 1795213573")
		*v = time.UnixMilli(int64(seconds * 1000))
	case *aboveZero:
		var d time.Duration
		if d, err = backoff.ParseDuration(text); err == nil && d == 0 {
			err = fmt.Errorf("%q leaves no time; use a duration above 0, such as 250ms", text)
		}
		*v = aboveZero(d)
	default:
		return false, nil
	}
	return true, err
}

// parseText reads what remains text.
func parseText(to any, text string) (known bool, err error) {
	switch v := to.(type) {
	case *fileName:
		*v, err = fileName(text), notEmpty(text, "a file name")
	case *shellScript:
		*v, err = shellScript(text), notEmpty(text, "a shell command; write it as in 'make clean'")
	case *idempotencyKey:
		*v, err = idempotencyKey(text), notEmpty(text, "a key; give any text, such as a build number")
	case *key:
		*v, err = key(text), printable(text, "a key", "name what the guards protect, such as npm or db-prod", longestKey)
	case *runName:
		*v, err = runName(text), printable(text, "a name", "call the run as what it does, such as backup", engine.LongestName)
		if text == "all" {
			err = errors.New(`"all" is not a name: it means every run; use another one, such as backup`)
		}
	case *promFile:
		*v, err = promFile(text), telemetry.CheckMetricsFile(text)
	case *otlpTarget:
		*v, err = otlpTarget(text), telemetry.CheckOTLP(text)
	case encoding.TextUnmarshaler: // the guards
		err = v.UnmarshalText([]byte(text))
	default:
		return false, nil
	}
	return true, err
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

func parseSignal(text string) (signalName, error) {
	var s attempt.Signal
	var known bool
	if n, err := strconv.Atoi(text); err == nil {
		s, known = signalNamed(n)
	} else {
		if s, err = attempt.ParseSignal(text); err != nil {
			return "", err
		}
		_, known = signalNumber(s)
	}
	if !known {
		return "", fmt.Errorf("this system has no signal %q; use one such as TERM, INT, HUP or KILL", text)
	}
	return signalName(s), nil
}

// parseResult reads an exit code or a signal, which --explain judges.
func parseResult(text string) (r attempt.Result, err error) {
	if code, err := strconv.ParseUint(text, 10, 8); err == nil {
		return attempt.Result{ExitCode: int(code)}, nil
	}
	signal, err := attempt.ParseSignal(text)
	if err != nil {
		return r, fmt.Errorf("%q is not an exit code from 0 to 255 or a signal such as SIGKILL", text)
	}
	number, known := signalNumber(signal)
	if !known {
		return r, fmt.Errorf("this system has no signal %q", text)
	}
	return attempt.Result{Signal: signal, ExitCode: exitcodes.OfSignal(number)}, nil
}
