package option

// This file gives the values of flags their meaning: a type a kind of value,
// with a method that reads it from text. Errors quote the text and say what would
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

// setter is a value that is read from text.
type setter interface{ Set(text string) error }

// parse reads a value whose type says how; known reports whether it does. A type of
// another package is read by that package.
func parse(to any, text string) (known bool, err error) {
	switch v := to.(type) {
	case setter:
		err = v.Set(text)
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
	case encoding.TextUnmarshaler:
		err = v.UnmarshalText([]byte(text))
	case *telemetry.StatsD:
		*v, err = telemetry.ParseStatsD(text)
	default:
		return false, nil
	}
	return true, err
}

// assign stores what a function has read, and returns its error.
func assign[T any](to *T, v T, err error) error {
	*to = v
	return err
}

// aboveZero is a duration above 0.
type aboveZero time.Duration

func (d *aboveZero) Set(text string) error {
	v, err := backoff.ParseDuration(text)
	if err == nil && v == 0 {
		err = fmt.Errorf("%q leaves no time; use a duration above 0, such as 250ms", text)
	}
	return assign(d, aboveZero(v), err)
}

// attemptCount is a number of attempts, 0 for no limit. 2^31 - 1 is the greatest
// number that an int holds on every system.
type attemptCount int

func (n *attemptCount) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d; 0 is unlimited", text, math.MaxInt32)
	}
	return assign(n, attemptCount(v), nil)
}

// count is a number of at least 1, clientCount and trialCount those of a
// simulation.
type (
	count       int
	clientCount int
	trialCount  int
)

func (n *count) Set(text string) error       { return setCount(n, text, math.MaxInt32) }
func (n *clientCount) Set(text string) error { return setCount(n, text, mostClients) }
func (n *trialCount) Set(text string) error  { return setCount(n, text, mostTrials) }

func setCount[T ~int](n *T, text string, most uint64) error {
	v, err := strconv.ParseUint(text, 10, 31)
	if err != nil || v < 1 || v > most {
		return fmt.Errorf("%q is not a whole number from 1 to %d", text, most)
	}
	return assign(n, T(v), nil)
}

type exitCode int

func (c *exitCode) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 8)
	if err != nil {
		return fmt.Errorf("%q is not an exit code from 0 to 255", text)
	}
	return assign(c, exitCode(v), nil)
}

// factor is what exponential delays are multiplied by.
type factor float64

func (f *factor) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 1) || math.IsInf(v, 0) {
		return fmt.Errorf("%q is not a number of at least 1, such as 2 or 1.5", text)
	}
	return assign(f, factor(v), nil)
}

// delays are separated by commas.
type delays backoff.List

func (l *delays) Set(text string) error {
	*l = nil
	for item := range strings.SplitSeq(text, ",") {
		d, err := backoff.ParseDuration(strings.TrimSpace(item))
		if err != nil {
			return fmt.Errorf("%w; separate several by commas, as in 1s,5s,30s", err)
		}
		*l = append(*l, d)
	}
	return nil
}

type seed uint64

func (s *seed) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d", text, uint64(math.MaxUint64))
	}
	return assign(s, seed(v), nil)
}

// signalName is a signal of this system by its name or, as timeout(1) has it, its
// number.
type signalName attempt.Signal

func (s *signalName) Set(text string) error {
	var v attempt.Signal
	var known bool
	if n, err := strconv.Atoi(text); err == nil {
		v, known = signalNamed(n)
	} else {
		if v, err = attempt.ParseSignal(text); err != nil {
			return err
		}
		_, known = signalNumber(v)
	}
	if !known {
		return fmt.Errorf("this system has no signal %q; use one such as TERM, INT, HUP or KILL", text)
	}
	return assign(s, signalName(v), nil)
}

// retryAfter is auto, off or a regular expression.
type retryAfter struct {
	off bool
	re  *regexp.Regexp
}

func (r *retryAfter) Set(text string) error {
	*r = retryAfter{off: text == "off"}
	switch text {
	case "auto", "off":
		return nil
	case "":
		return errors.New(`"" is not auto, off or a regular expression`)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		_, err = linematch.Parse(text) // says it in one line
	}
	return assign(&r.re, re, err)
}

// promFile is a file that Prometheus's textfile collector reads.
type promFile string

func (n *promFile) Set(text string) error {
	return assign(n, promFile(text), telemetry.CheckMetricsFile(text))
}

// otlpTarget is auto or the address of a collector.
type otlpTarget string

func (u *otlpTarget) Set(text string) error {
	return assign(u, otlpTarget(text), telemetry.CheckOTLP(text))
}

// fileName is not empty.
type fileName string

func (n *fileName) Set(text string) error {
	if text == "" {
		return errors.New(`"" is not a file name`)
	}
	return assign(n, fileName(text), nil)
}

// shellScript is a command of the shell, which checks its syntax.
type shellScript string

func (s *shellScript) Set(text string) error {
	if text == "" {
		return errors.New(`"" is not a shell command; write it as in 'make clean'`)
	}
	return assign(s, shellScript(text), nil)
}

type idempotencyKey string

func (k *idempotencyKey) Set(text string) error {
	if text == "" {
		return errors.New(`"" is not a key; give any text, such as a build number`)
	}
	return assign(k, idempotencyKey(text), nil)
}

// targetFlag is a target that is waited for.
type targetFlag struct{ *WaitTarget }

func (t *targetFlag) Set(text string) error {
	v, err := parseTarget(text)
	return assign(&t.WaitTarget, v, err)
}

// key names what guards protect.
type key string

// longestKey is the greatest length of a key, in code points.
const longestKey = 200

func (k *key) Set(text string) error {
	if text == "" {
		return errors.New(`"" is not a key; name what the guards protect, such as npm or db-prod`)
	}
	return assign(k, key(text), printable(text, "a key", longestKey))
}

// runName is what a run is called.
type runName string

func (n *runName) Set(text string) error {
	switch text {
	case "":
		return errors.New(`"" is not a name; call the run as what it does, such as backup`)
	case "all":
		return errors.New(`"all" is not a name: it means every run; use another one, such as backup`)
	}
	return assign(n, runName(text), printable(text, "a name", engine.LongestName))
}

// printable refuses a text that is too long or has control characters in it.
func printable(text, what string, longest int) error {
	if n := utf8.RuneCountInString(text); n > longest {
		return fmt.Errorf("%q has %d characters; %s has at most %d", text, n, what, longest)
	}
	for i, c := range text {
		if !unicode.IsPrint(c) || c == utf8.RuneError {
			return fmt.Errorf("%q is not printable, at byte %d; %s is 1 to %d printable characters", text, i, what, longest)
		}
	}
	return nil
}

type storeURL struct{ *storeAddress }

func (u *storeURL) Set(text string) error {
	v, err := parseStore(text)
	return assign(&u.storeAddress, &v, err)
}

// judgedResult is an exit code or a signal, which --explain judges.
type judgedResult struct{ attempt.Result }

func (r *judgedResult) Set(text string) error {
	if code, err := strconv.ParseUint(text, 10, 8); err == nil {
		r.Result = attempt.Result{ExitCode: int(code)}
		return nil
	}
	signal, err := attempt.ParseSignal(text)
	if err != nil {
		return fmt.Errorf("%q is not an exit code from 0 to 255 or a signal such as SIGKILL", text)
	}
	number, known := signalNumber(signal)
	if !known {
		return fmt.Errorf("this system has no signal %q", text)
	}
	r.Result = attempt.Result{Signal: signal, ExitCode: exitcodes.OfSignal(number)}
	return nil
}

// unixTime is given in seconds.
type unixTime struct{ at time.Time }

func (t *unixTime) Set(text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(seconds) < 1e11) {
		return fmt.Errorf("%q is not a Unix time in seconds, such as 1795213573", text)
	}
	return assign(&t.at, time.UnixMilli(int64(seconds*1000)), nil)
}

// nameList are names of variables, and globs on them, separated by commas.
type nameList []string

func (l *nameList) Set(text string) error {
	*l = strings.Split(text, ",")
	for _, name := range *l {
		if _, err := path.Match(name, ""); err != nil || name == "" || strings.Contains(name, "=") {
			return fmt.Errorf("%q is not a variable's name or a glob on names, as in AWS_PROFILE,PG*", name)
		}
	}
	return nil
}

// callRate is a number of calls a second, as in 100 or 100/s.
type callRate float64

// The slowest and the fastest server that a simulation knows. A call takes at
// least a nanosecond.
const (
	leastCapacity = 0.001
	mostCapacity  = 1e9
)

func (c *callRate) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
	if err != nil || !(v >= leastCapacity && v <= mostCapacity) {
		return fmt.Errorf("%q is not a number of calls a second from %v to %d, such as 100", text, leastCapacity, int(mostCapacity))
	}
	return assign(c, callRate(v), nil)
}
