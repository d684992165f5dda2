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

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
)

// JSON writes one object a line, each line in one write, so that lines of
// several programs that append to one file do not mix.
type JSON struct {
	w      io.Writer
	buffer bytes.Buffer
}

// NewJSON returns a sink that writes to w.
func NewJSON(w io.Writer) *JSON { return &JSON{w: w} }

// object is an event with the field names of docs/logs.md, in its order; what does
// not apply is nil or empty and left out.
type object struct {
	Time         string            `json:"time"`
	RunID        string            `json:"run_id"`
	Event        string            `json:"event"`
	Command      []string          `json:"command,omitempty"`
	Key          string            `json:"key,omitempty"`
	Policy       string            `json:"policy,omitempty"`
	PolicySource string            `json:"policy_source,omitempty"`
	Attempt      int               `json:"attempt,omitempty"`
	MaxAttempts  *int              `json:"max_attempts,omitempty"`
	Copy         *int              `json:"copy,omitempty"`
	Use          map[string]string `json:"use,omitempty"`
	Rehearsed    bool              `json:"rehearsed,omitempty"`
	Name         string            `json:"name,omitempty"`
	ExitCode     *int              `json:"exit_code,omitempty"`
	Signal       string            `json:"signal,omitempty"`
	TimedOut     *bool             `json:"timed_out,omitempty"`
	DurationMS   *float64          `json:"duration_ms,omitempty"`
	Verdict      string            `json:"verdict,omitempty"`
	Guard        string            `json:"guard,omitempty"`
	From         string            `json:"from,omitempty"`
	To           string            `json:"to,omitempty"`
	Store        string            `json:"store,omitempty"`
	Hook         string            `json:"hook,omitempty"`
	Reason       string            `json:"reason,omitempty"`
	Rule         string            `json:"rule,omitempty"`
	RetryInMS    *nullable         `json:"retry_in_ms,omitempty"`
	DelayMS      *float64          `json:"delay_ms,omitempty"`
	JitteredMS   *float64          `json:"jittered_ms,omitempty"`
	SleptMS      *float64          `json:"slept_ms,omitempty"`
	HintMS       *float64          `json:"hint_ms,omitempty"`
	ElapsedMS    float64           `json:"elapsed_ms"`
	Attempts     *int              `json:"attempts,omitempty"`
	Outcome      string            `json:"outcome,omitempty"`
	FallbackCode *int              `json:"fallback_exit_code,omitempty"`
	Target       string            `json:"target,omitempty"`
	Gone         bool              `json:"gone,omitempty"`
	While        bool              `json:"while,omitempty"`
	Passed       *int              `json:"passed,omitempty"`
	Failed       *int              `json:"failed,omitempty"`
	FailedAt     *[]int            `json:"failed_attempts,omitempty"`
	FailedLow    *float64          `json:"failed_low,omitempty"`
	FailedHigh   *float64          `json:"failed_high,omitempty"`
	Letter       string            `json:"letter,omitempty"`
	ParentRunID  string            `json:"parent_run_id,omitempty"`
	DueAt        string            `json:"due_at,omitempty"`
	TraceID      string            `json:"trace_id,omitempty"`
}

// nullable is a number that is written as null if it is not known.
type nullable struct{ ms *float64 }

// MarshalJSON writes the number or null.
func (n *nullable) MarshalJSON() ([]byte, error) { return json.Marshal(n.ms) }

// Emit writes one event, unless it is for a person only.
func (s *JSON) Emit(e event.Event) {
	o := objectOf(e)
	if o.Event == "" {
		return
	}
	s.buffer.Reset()
	if err := text.WriteJSON(&s.buffer, o); err == nil {
		_, _ = s.w.Write(noCommand(s.buffer.Bytes()))
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

// objectOf is an event as an object. Its Event is "" for an event that only a person sees.
func objectOf(e event.Event) object {
	h := e.Head()
	o := object{
		Time: h.Time.Format(nanoseconds), RunID: h.RunID, TraceID: h.TraceID,
		ElapsedMS: text.Milliseconds(h.Elapsed),
	}
	switch e := e.(type) {
	case *event.RunStarted:
		o.Event = "run_started"
		o.Command = text.MaskedArgs(e.Command)
		o.MaxAttempts = &e.MaxAttempts
		o.Name = text.Masked(e.Name)
		o.Letter = e.Letter
		o.ParentRunID = e.ParentRunID
		o.Key = e.Key
		o.Policy = e.Policy
		o.PolicySource = e.PolicySource
	case *event.TargetReady:
		o.Event = "wait_ready"
		o.Target = e.Name
		o.Gone = e.Gone
	case *event.TargetFailed:
		o.Event = "wait_failed"
		o.Reason = e.Reason
		o.Target = e.Name
		o.Gone = e.Gone
		o.While = e.While
	case *event.GuardRefused:
		o.which(&e.Which)
		o.Event = "guard_refused"
		o.Reason = e.Reason
		o.Guard = e.Guard
		o.Key = e.Key
		o.RetryInMS = &nullable{}
		if e.RetryIn != nil {
			o.RetryInMS.ms = pointer(*e.RetryIn)
		}
	case *event.BreakerChanged:
		o.Event = "breaker_changed"
		o.Key = e.Key
		o.From = e.From
		o.To = e.To
	case *event.StoreFailed:
		o.Event = "store_failed"
		o.Store = e.Store
		o.Reason = e.Reason
	case *event.HookFinished:
		o.Event = "hook_finished"
		o.Hook = e.Hook
		o.Reason = e.Reason
		o.ExitCode = &e.ExitCode
		o.DurationMS = pointer(e.Duration)
	case *event.RunFinished:
		o.finish(e)
	default:
		o.attempt(e)
	}
	return o
}

// attempt fills in the fields of attempts and of the waits between them.
func (o *object) attempt(e event.Event) {
	h := e.Head()
	o.Attempt = h.Attempt
	o.MaxAttempts = &h.MaxAttempts
	switch e := e.(type) {
	case *event.AttemptStarted:
		o.which(&e.Which)
		o.Event = "attempt_started"
		o.Rehearsed = e.Rehearsed
	case *event.AttemptFinished:
		o.which(&e.Which)
		o.result(&e.Result)
		o.Event = "attempt_finished"
		o.Verdict = string(e.Verdict)
		o.Reason = e.Reason
		o.Rule = e.Rule
	case *event.AttemptCancelled:
		o.Event = "attempt_cancelled"
		o.which(&e.Which)
		o.result(&e.Result)
	case *event.RetryScheduled:
		o.Event = "retry_scheduled"
		o.wait(&e.Wait)
	case *event.RetryWaited:
		o.wait(&e.Wait)
		o.Event = "retry_waited"
		o.SleptMS = pointer(e.Slept)
	}
}

func (o *object) which(w *event.Which) {
	if w.Hedged {
		o.Copy = &w.Copy
	}
	o.Use = w.Use
}

func (o *object) result(r *attempt.Result) {
	o.ExitCode = &r.ExitCode
	o.Signal = string(r.Signal)
	o.TimedOut = &r.TimedOut
	o.DurationMS = pointer(r.Duration)
	o.Rehearsed = r.Rehearsed
}

func (o *object) wait(w *event.Wait) {
	o.DelayMS = pointer(w.Delay)
	o.JitteredMS = pointer(w.Jittered)
	if w.HasHint {
		o.HintMS = pointer(w.Hint)
	}
}

func (o *object) finish(e *event.RunFinished) {
	o.Event = "run_finished"
	o.Outcome = string(e.Outcome)
	o.Attempts = &e.Attempts
	o.ExitCode = &e.ExitCode
	o.FallbackCode = e.FallbackExitCode
	o.Verdict = string(e.Verdict)
	o.Reason = e.Whole()
	o.Rule = e.Rule
	if e.HasHint {
		o.HintMS = pointer(e.Hint)
	}
	if r := e.Repeated; r != nil {
		failed := append([]int{}, r.FailedAttempts...) // [] if none has
		o.Passed = &r.Passed
		o.Failed = &r.Failed
		o.FailedAt = &failed
		o.FailedLow = &r.FailedLow
		o.FailedHigh = &r.FailedHigh
	}
	o.Letter = e.Letter
	if !e.DueAt.IsZero() {
		o.DueAt = e.DueAt.UTC().Format(nanoseconds)
	}
}

func pointer(d time.Duration) *float64 {
	ms := text.Milliseconds(d)
	return &ms
}
