// Package sink writes events for machines: JSON lines, and the logs of CI
// systems.
//
// A sink that cannot write reports that once and lets the run go on, since a
// full log disk is no reason to fail a deployment. It will never decide, filter
// or format for a person.
package sink

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// JSON writes one object a line, each line in one write, so that lines of
// several programs that append to one file do not mix.
type JSON struct {
	w      io.Writer
	report func(error)
	buffer bytes.Buffer
	failed bool
}

// NewJSON returns a sink that writes to w. The first error of w is given to
// report.
func NewJSON(w io.Writer, report func(error)) *JSON {
	return &JSON{w: w, report: report}
}

// object is an event with the contract's field names, in its order; what does
// not apply is nil or empty and left out.
type object struct {
	Time        string   `json:"time"`
	RunID       string   `json:"run_id"`
	Event       string   `json:"event"`
	Command     []string `json:"command,omitempty"`
	Attempt     int      `json:"attempt,omitempty"`
	MaxAttempts *int     `json:"max_attempts,omitempty"`
	ExitCode    *int     `json:"exit_code,omitempty"`
	Signal      string   `json:"signal,omitempty"`
	TimedOut    *bool    `json:"timed_out,omitempty"`
	DurationMS  *float64 `json:"duration_ms,omitempty"`
	Verdict     string   `json:"verdict,omitempty"`
	Reason      string   `json:"reason,omitempty"`
	Rule        string   `json:"rule,omitempty"`
	DelayMS     *float64 `json:"delay_ms,omitempty"`
	JitteredMS  *float64 `json:"jittered_ms,omitempty"`
	SleptMS     *float64 `json:"slept_ms,omitempty"`
	HintMS      *float64 `json:"hint_ms,omitempty"`
	ElapsedMS   float64  `json:"elapsed_ms"`
	Attempts    *int     `json:"attempts,omitempty"`
	Outcome     string   `json:"outcome,omitempty"`
	Target      string   `json:"target,omitempty"`
	TraceID     string   `json:"trace_id,omitempty"`
}

// Emit writes one event. What is told to a person only is left out: the
// contract fixes the names that a machine sees.
func (s *JSON) Emit(e event.Event) {
	if e.Kind == event.WaitPending || e.Kind == event.InitialWait {
		return
	}
	s.buffer.Reset()
	encoder := json.NewEncoder(&s.buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(objectOf(e))
	if err == nil {
		_, err = s.w.Write(noCommand(s.buffer.Bytes()))
	}
	if err != nil && !s.failed {
		s.failed = true
		s.report(err)
	}
}

// noCommand writes "##" as "#\u0023", which is the same string: the runner of
// GitHub Actions looks for its old commands, "##[name]", anywhere in a line
// (actions/runner, ActionCommand.TryParse), and the texts are not ours.
func noCommand(line []byte) []byte {
	if !bytes.Contains(line, []byte("##")) {
		return line
	}
	return bytes.ReplaceAll(line, []byte("##"), []byte(`#\u0023`))
}

// nanoseconds is time.RFC3339Nano with all nine digits, so that times sort as
// texts.
const nanoseconds = "2006-01-02T15:04:05.000000000Z07:00"

func objectOf(e event.Event) object {
	o := object{
		Time: e.Time.Format(nanoseconds), RunID: e.RunID, Event: string(e.Kind), TraceID: e.TraceID,
		ElapsedMS: milliseconds(e.Elapsed), Reason: e.Reason, Rule: e.Rule, Verdict: string(e.Verdict), Target: e.Target,
	}
	switch e.Kind {
	case event.RunStarted:
		o.Command, o.MaxAttempts = e.Command, &e.MaxAttempts
	case event.AttemptStarted:
		o.Attempt, o.MaxAttempts = e.Attempt, &e.MaxAttempts
	case event.AttemptFinished:
		o.Attempt, o.MaxAttempts = e.Attempt, &e.MaxAttempts
		o.ExitCode, o.Signal, o.TimedOut = &e.Result.ExitCode, string(e.Result.Signal), &e.Result.TimedOut
		o.DurationMS = pointer(e.Result.Duration)
	case event.RetryScheduled, event.RetryWaited:
		o.Attempt, o.MaxAttempts = e.Attempt, &e.MaxAttempts
		o.DelayMS, o.JitteredMS = pointer(e.Delay), pointer(e.Jittered)
		if e.HasHint {
			o.HintMS = pointer(e.Hint)
		}
		if e.Kind == event.RetryWaited {
			o.SleptMS = pointer(e.Slept)
		}
	case event.RunFinished:
		o.Outcome, o.Attempts, o.ExitCode = string(e.Outcome), &e.Attempts, &e.ExitCode
		if e.Advice != "" && e.Outcome != event.Exhausted { // why no wait was begun
			o.Reason += "; " + e.Advice
		}
		if e.HasHint {
			o.HintMS = pointer(e.Hint)
		}
	}
	return o
}

// milliseconds keeps what is below a millisecond as decimals.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func pointer(d time.Duration) *float64 {
	ms := milliseconds(d)
	return &ms
}
