// Package history keeps a line about each run in a file, and computes what these
// lines say (SPEC section 18).
//
// record.go is the record and its text, recorder.go makes it of events, parse.go
// reads it again. file.go appends lines, read.go reads files. report.go and
// learn.go are pure statistics over records. The package runs nothing, and shows
// nothing: cli/report does.
package history

import (
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/event"
)

// version is that of the record's format.
const version = 1

// longestLine is the size of the largest line with its newlines; mostAttempts is
// how many attempts a line holds.
const (
	longestLine  = 64 << 10
	mostAttempts = 100
)

// timeFormat is RFC 3339 with milliseconds; times are UTC.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// Record is what is kept of a run. What does not apply is zero.
type Record struct {
	Version      int
	Time         time.Time // when the run started
	RunID        string
	ParentRunID  string // of the retry around it, or of the letter's last run
	Depth        int
	Name         string
	Command      []string // secrets masked
	Cwd          string
	Key, Policy  string
	Outcome      string
	ExitCode     int
	Attempts     []Attempt
	AttemptCount int
	ElapsedMS    float64
	WaitedMS     float64 // as slept
	Commit, CI   string
	Host         string
	UntilFailure bool
	Repeat       bool // --repeat: failures and successes are counted, none is retried
	Rehearsed    bool
	Redriven     bool
	Cut          bool // something was left out, or shortened
}

// Attempt is one attempt of a record.
type Attempt struct {
	ExitCode int
	Signal   string
	TimedOut bool
	MS       float64
	Success  bool
	// Verdict, Rule, Reason and FP, the fingerprint, are those of a failure.
	Verdict, Rule, Reason, FP string
	// Waited says that a wait followed, JitteredMS as scheduled and SleptMS as slept.
	Waited              bool
	JitteredMS, SleptMS float64
}

// Encode returns the record as a line with its newline, of at most 64 KiB. Where
// it is longer, the longest texts are cut.
func (r *Record) Encode() []byte {
	if len(r.Attempts) > mostAttempts {
		kept := append([]Attempt(nil), r.Attempts[:mostAttempts/2]...)
		short := *r
		short.Attempts, short.Cut = append(kept, r.Attempts[len(r.Attempts)-mostAttempts/2:]...), true
		r = &short
	}
	const before = 1                   // a newline before the line, where the last one is torn
	line := r.append(nil, longestLine) // what that cuts makes the line too long
	for limit := longestLine / 4; len(line)+before > longestLine; limit /= 2 {
		short := *r
		short.Cut = true
		line = short.append(line[:0], limit)
	}
	return line
}

// append adds the record to b. Of a text so many bytes are written, of the
// command's words together four times as many.
func (r *Record) append(b []byte, limit int) []byte {
	o := object{b: append(b, '{'), limit: limit}
	o.number("v", float64(r.Version))
	o.text("time", r.Time.UTC().Format(timeFormat))
	o.text("run_id", r.RunID)
	o.text("parent_run_id", r.ParentRunID)
	o.number("depth", float64(r.Depth))
	o.text("name", r.Name)
	o.words("command", r.Command)
	o.text("cwd", r.Cwd)
	o.text("key", r.Key)
	o.text("policy", r.Policy)
	o.text("outcome", r.Outcome)
	o.number("exit_code", float64(r.ExitCode))
	o.name("attempts")
	o.b = append(o.b, '[')
	for i := range r.Attempts {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = r.Attempts[i].append(o.b, limit)
	}
	o.b = append(o.b, ']')
	o.number("attempt_count", float64(r.AttemptCount))
	o.number("elapsed_ms", r.ElapsedMS)
	o.number("waited_ms", r.WaitedMS)
	o.text("commit", r.Commit)
	o.text("ci", r.CI)
	o.text("host", r.Host)
	o.flag("until_failure", r.UntilFailure)
	o.flag("repeat", r.Repeat)
	o.flag("rehearsed", r.Rehearsed)
	o.flag("redriven", r.Redriven)
	o.flag("cut", r.Cut)
	return append(o.b, '}', '\n')
}

func (a *Attempt) append(b []byte, limit int) []byte {
	o := object{b: append(b, '{'), limit: limit}
	o.number("exit_code", float64(a.ExitCode))
	o.text("signal", a.Signal)
	o.flag("timed_out", a.TimedOut)
	o.number("ms", a.MS)
	o.name("success")
	o.b = strconv.AppendBool(o.b, a.Success)
	o.text("verdict", a.Verdict)
	o.text("rule", a.Rule)
	o.text("reason", a.Reason)
	o.text("fp", a.FP)
	if a.Waited {
		o.number("jittered_ms", a.JitteredMS)
		o.number("slept_ms", a.SleptMS)
	}
	return append(o.b, '}')
}

// object is a JSON object that is being written. encoding/json would cost a run
// half as much again as the rest of its record: it builds an encoder by reflection
// at the first value.
type object struct {
	b     []byte
	limit int // bytes of a text
}

func (o *object) name(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), `":`...)
}

// number writes three decimals at most.
func (o *object) number(name string, v float64) {
	o.name(name)
	o.b = strconv.AppendFloat(o.b, math.Round(v*1000)/1000, 'f', -1, 64)
}

// text and flag leave out what is empty.
func (o *object) text(name, s string) {
	if s != "" {
		o.name(name)
		o.quote(s)
	}
}

func (o *object) flag(name string, on bool) {
	if on {
		o.name(name)
		o.b = append(o.b, "true"...)
	}
}

func (o *object) words(name string, words []string) {
	if len(words) == 0 {
		return
	}
	o.name(name)
	o.b = append(o.b, '[')
	start := len(o.b)
	for i, word := range words {
		if len(o.b)-start > o.limit && (len(o.b)-start)/4 > o.limit {
			break
		}
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.quote(word)
	}
	o.b = append(o.b, ']')
}

// quote writes a JSON string. Bytes that are no UTF-8 become U+FFFD.
func (o *object) quote(s string) {
	const hex = "0123456789abcdef"
	if len(s) > o.limit {
		s = s[:o.limit]
		for len(s) > 0 && !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1] // the rest of a character
		}
		if n := len(s); n > 0 && s[n-1] >= utf8.RuneSelf && utf8.RuneStart(s[n-1]) {
			s = s[:n-1]
		}
	}
	b := append(o.b, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	o.b = append(b, '"')
}

// Failed reports whether the run did not succeed, or only after a failed attempt.
func (r *Record) Failed() bool {
	return r.Outcome != string(event.Succeeded) || slices.ContainsFunc(r.Attempts, func(a Attempt) bool { return !a.Success })
}
