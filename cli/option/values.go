package option

// This file has the types of flags. A type says what a value may be, wherever it comes
// from. Errors quote the text and say what would be valid; which flag it was is added
// where the flag is known. No other file of this package imports a package that touches
// the system.

import (
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

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/probe"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/engine/rehearse"
	"github.com/retrysh/retry/engine/store"
	"github.com/retrysh/retry/engine/telemetry"
	"github.com/retrysh/retry/exitcodes"
)

// Types of other packages that read values.
type (
	processConfig = proc.Config
	WaitTarget    = probe.Target
	twoTargets    = probe.TwoTargets
	storeAddress  = store.Address
)

func LooksLikeTarget(s string) bool { return probe.LooksLike(s) }

// set sets a field to a value, or adds it to those of a flag that may be repeated.
func set(field reflect.Value, value string) error {
	switch {
	case field.Kind() == reflect.Slice && field.Type().Name() == "":
		element := reflect.New(field.Type().Elem()).Elem()
		err := set(element, value)
		field.Set(reflect.Append(field, element))
		return err
	case field.Kind() == reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		return set(field.Elem(), value)
	}
	to := textOf(field)
	if to == nil {
		return fmt.Errorf("its type %s reads no value", field.Type()) // tests prove that all do
	}
	return to.UnmarshalText([]byte(value))
}

// textOf is what reads a value into a field, nil for none. Switches and durations are Go's
// own types.
func textOf(field reflect.Value) encoding.TextUnmarshaler {
	switch to := field.Addr().Interface().(type) {
	case *bool:
		return (*toggle)(to)
	case *time.Duration:
		return (*span)(to)
	case encoding.TextUnmarshaler:
		return to
	}
	return nil
}

// toggle is a switch.
type toggle bool

func (t *toggle) UnmarshalText(text []byte) error {
	truth := Truth(string(text))
	if truth == "" {
		return fmt.Errorf("%q is not true or false", text)
	}
	*t = truth == "true"
	return nil
}

// Truth reads what switches a flag without value on or off; "" is for everything else.
func Truth(value string) string {
	switch strings.ToLower(value) {
	case "1", "true", "yes", "on":
		return "true"
	case "0", "false", "no", "off":
		return "false"
	}
	return ""
}

// span is a duration of 0 or more, Above0 one of more.
type (
	span   time.Duration
	Above0 time.Duration
)

func (d *span) UnmarshalText(text []byte) (err error) {
	*(*time.Duration)(d), err = backoff.ParseDuration(string(text))
	return err
}

func (d *Above0) UnmarshalText(text []byte) error {
	err := (*span)(d).UnmarshalText(text)
	if err == nil && *d == 0 {
		err = fmt.Errorf("%q leaves no time; use a duration above 0, such as 250ms", text)
	}
	return err
}

// String is "" for none.
func (d Above0) String() string {
	if d == 0 {
		return ""
	}
	return manual.Duration(time.Duration(d))
}

// Word is one of the words that W lists.
type Word[W interface{ Words() []string }] string

// Words are those that the value may be.
func (Word[W]) Words() []string { return (*new(W)).Words() }

func (w *Word[W]) UnmarshalText(text []byte) error {
	words := w.Words()
	if slices.Contains(words, string(text)) {
		*w = Word[W](text)
		return nil
	}
	last := len(words) - 1
	valid := words[last]
	if last > 0 {
		valid = strings.Join(words[:last], ", ") + " or " + valid
	}
	return fmt.Errorf("%q is not %s", text, valid)
}

// The enumerations.
type (
	curves          struct{}
	inputs          struct{}
	outputs         struct{}
	nesting         struct{}
	classifications struct{}
	failing         struct{}
	Colors          struct{}
	formats         struct{}
	shells          struct{}
	simulations     struct{}
)

func (curves) Words() []string          { return []string{"exponential", "linear", "constant", "fibonacci"} }
func (inputs) Words() []string          { return []string{"inherit", "replay", "null"} }
func (outputs) Words() []string         { return []string{"stream", "hold", "on-failure"} }
func (nesting) Words() []string         { return []string{"warn", "once", "allow"} }
func (classifications) Words() []string { return []string{"any", "smart", "strict"} }
func (failing) Words() []string         { return []string{"open", "closed"} }
func (Colors) Words() []string          { return []string{"auto", "always", "never"} }
func (formats) Words() []string         { return []string{"text", "json", "github", "gitlab", "auto"} }
func (shells) Words() []string          { return []string{"bash", "zsh", "fish", "powershell"} }
func (simulations) Words() []string     { return []string{"outage"} }

// Numbers. 2^31 - 1 is the greatest that an int holds on every system.
type (
	Count    int    // 1 or more
	Limit    int    // 0 or more; 0 is no limit
	exitCode int    // 0 to 255
	clients  int    // of a simulation
	seed     uint64 // of random numbers
	factor   float64
	callRate float64 // calls a second, as in 100 or 100/s
)

func (n *Count) UnmarshalText(text []byte) error {
	return integer(n, text, "a whole number", 1, math.MaxInt32)
}

func (n *Limit) UnmarshalText(text []byte) error {
	err := integer(n, text, "a whole number", 0, math.MaxInt32)
	if err != nil {
		err = fmt.Errorf("%w; 0 is no limit", err)
	}
	return err
}

func (n *exitCode) UnmarshalText(text []byte) error { return integer(n, text, "an exit code", 0, 255) }
func (n exitCode) String() string                   { return strconv.Itoa(int(n)) }

func (n *clients) UnmarshalText(text []byte) error {
	return integer(n, text, "a whole number", 1, 1_000_000)
}

func (n *seed) UnmarshalText(text []byte) error {
	return integer(n, text, "a whole number", 0, math.MaxUint64)
}

func (f *factor) UnmarshalText(text []byte) error {
	return decimal(f, string(text), 1, math.MaxFloat64, "a number of at least 1, such as 2 or 1.5")
}

// The slowest and the fastest server that a simulation knows. A call takes at
// least a nanosecond.
const (
	leastCapacity = 0.001
	mostCapacity  = 1e9
)

func (r *callRate) UnmarshalText(text []byte) error {
	what := fmt.Sprintf("a number of calls a second from %v to %d, such as 100", leastCapacity, int(mostCapacity))
	return decimal(r, strings.TrimSuffix(string(text), "/s"), leastCapacity, mostCapacity, what)
}

// integer reads a number within bounds.
func integer[T ~int | ~uint64](to *T, text []byte, what string, least, most uint64) error {
	v, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || v < least || v > most {
		return fmt.Errorf("%q is not %s from %d to %d", text, what, least, most)
	}
	*to = T(v)
	return nil
}

// decimal reads a number within bounds.
func decimal[T ~float64](to *T, text string, least, most float64, what string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= least && v <= most) {
		return fmt.Errorf("%q is not %s", text, what)
	}
	*to = T(v)
	return nil
}

// moment is a time in Unix seconds.
type moment struct{ time.Time }

// latestTime bounds a time in seconds: it is in the year 5138.
const latestTime = 1e11 - 1e-3

func (m *moment) UnmarshalText(text []byte) error {
	seconds := 0.0
	err := decimal(&seconds, string(text), -latestTime, latestTime, "a Unix time in seconds, such as 1795213573")
	m.Time = time.UnixMilli(int64(seconds * 1000))
	return err
}

// String is "" for none.
func (m moment) String() string { return "" }

// Texts.
type (
	Text           string // any
	file           string // the name of a file
	Place          string // on, off, or the name of a file or a directory
	script         string // for a shell, which checks its syntax
	idempotencyKey string
	key            string // of what guards protect
	name           string // of a run
	metricsFile    string // that Prometheus's textfile collector reads
	collector      string // of OpenTelemetry
)

func (t *Text) UnmarshalText(text []byte) error { return take(t, text, nil) }

func (t *file) UnmarshalText(text []byte) error { return take(t, text, notEmpty(text, "a file name")) }

func (t *Place) UnmarshalText(text []byte) error { return take(t, text, notEmpty(text, "a file name")) }

func (t *script) UnmarshalText(text []byte) error {
	return take(t, text, notEmpty(text, "a shell command; write it as in 'make clean'"))
}

func (t *idempotencyKey) UnmarshalText(text []byte) error {
	return take(t, text, notEmpty(text, "a key; give any text, such as a build number"))
}

// longestKey is the greatest length of a key, in code points.
const longestKey = 200

func (t *key) UnmarshalText(text []byte) error {
	return take(t, text,
		printable(string(text), "a key", "name what the guards protect, such as npm or db-prod", longestKey))
}

func (t *name) UnmarshalText(text []byte) error {
	if string(text) == "all" {
		return errors.New(`"all" is not a name: it means every run; use another one, such as backup`)
	}
	return take(t, text,
		printable(string(text), "a name", "call the run as what it does, such as backup", engine.LongestName))
}

func (t *metricsFile) UnmarshalText(text []byte) error {
	return take(t, text, telemetry.CheckMetricsFile(string(text)))
}

func (t *collector) UnmarshalText(text []byte) error {
	return take(t, text, telemetry.CheckOTLP(string(text)))
}

// take takes over a text that is not wrong.
func take[T ~string](to *T, text []byte, wrong error) error {
	if wrong == nil {
		*to = T(text)
	}
	return wrong
}

func notEmpty(text []byte, what string) error {
	if len(text) == 0 {
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
			return fmt.Errorf("%q is not printable, at byte %d; %s is 1 to %d printable characters", text, i, what,
				longest)
		}
	}
	return notEmpty([]byte(text), what+"; "+hint)
}

// Lists, separated by commas.
type (
	delays   []time.Duration
	nameList []string // of variables, and globs on them
)

func (all *delays) UnmarshalText(text []byte) error {
	*all = nil
	for item := range strings.SplitSeq(string(text), ",") {
		d, err := backoff.ParseDuration(strings.TrimSpace(item))
		if err != nil {
			return fmt.Errorf("%w; separate several by commas, as in 1s,5s,30s", err)
		}
		*all = append(*all, d)
	}
	return nil
}

func (names *nameList) UnmarshalText(text []byte) error {
	*names = strings.Split(string(text), ",")
	for _, name := range *names {
		if _, err := path.Match(name, ""); err != nil || name == "" || strings.Contains(name, "=") {
			return fmt.Errorf("%q is not a variable's name or a glob on names, as in AWS_PROFILE,PG*", name)
		}
	}
	return nil
}

// steps are those of a rehearsal.
type steps rehearse.Steps

func (s *steps) UnmarshalText(text []byte) (err error) {
	*(*rehearse.Steps)(s), err = rehearse.Parse(string(text), proc.NumberOf)
	return err
}

// retryAfter is auto, off or a regular expression.
type retryAfter struct {
	off bool
	re  *regexp.Regexp
}

func (r *retryAfter) UnmarshalText(text []byte) (err error) {
	*r = retryAfter{off: string(text) == "off"}
	switch string(text) {
	case "auto", "off":
		return nil
	case "":
		return errors.New(`"" is not auto, off or a regular expression`)
	}
	if _, err = linematch.Parse(string(text)); err != nil { // in one line
		return err
	}
	if r.re, err = regexp.Compile(string(text)); err == nil && r.re.NumSubexp() == 0 {
		return fmt.Errorf("%q has no group, which is the wait; put it into brackets, as in 'wait ([0-9]+) seconds'",
			text)
	}
	return err
}

// signal is a signal of this system.
type signal attempt.Signal

// UnmarshalText reads a signal's name or, as timeout(1) has it, its number.
func (s *signal) UnmarshalText(text []byte) (err error) {
	var known bool
	if n, wrong := strconv.Atoi(string(text)); wrong == nil {
		*(*attempt.Signal)(s), known = proc.SignalOf(n)
	} else if *(*attempt.Signal)(s), err = attempt.ParseSignal(string(text)); err == nil {
		_, known = proc.NumberOf(attempt.Signal(*s))
	}
	if err == nil && !known {
		err = fmt.Errorf("this system has no signal %q; use one such as TERM, INT, HUP or KILL", text)
	}
	return err
}

func (s signal) String() string { return strings.TrimPrefix(string(s), "SIG") }

// result is an exit code or a signal, which --explain judges.
type result attempt.Result

func (r *result) UnmarshalText(text []byte) (err error) {
	if code, wrong := strconv.ParseUint(string(text), 10, 8); wrong == nil {
		*r = result{ExitCode: int(code)}
		return nil
	}
	if r.Signal, err = attempt.ParseSignal(string(text)); err != nil {
		return fmt.Errorf("%q is not an exit code from 0 to 255 or a signal such as SIGKILL", text)
	}
	number, known := proc.NumberOf(r.Signal)
	if !known {
		err = fmt.Errorf("this system has no signal %q", text)
	}
	r.ExitCode = exitcodes.OfSignal(number)
	return err
}

// setStreams takes over the words of --stdin, --stdout and --stderr.
func setStreams(c *processConfig, stdin Word[inputs], stdout, stderr Word[outputs]) {
	switch stdin {
	case "replay":
		c.Stdin = stdio.Replay
	case "null":
		c.Stdin = stdio.Null
	}
	c.Stdout, c.Stderr = outputMode(stdout), outputMode(stderr)
}

func outputMode(word Word[outputs]) stdio.OutputMode {
	switch word {
	case "hold":
		return stdio.Hold
	case "on-failure":
		return stdio.OnFailure
	}
	return stdio.Stream
}
