package cli

// This file is --plan --rehearse: the decisions of a rehearsed run, without
// waiting and without running anything.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/cli/show"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/hook"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/rehearse"
	"github.com/retrysh/retry/engine/text"
)

// rehearsedRow is one attempt of --plan --rehearse in JSON.
type rehearsedRow struct {
	Attempt   int      `json:"attempt"`
	StartsMS  float64  `json:"starts_ms"`
	Decision  string   `json:"decision"` // success, retry, stop, run (the command would be) or refused
	ExitCode  *int     `json:"exit_code,omitempty"`
	Signal    string   `json:"signal,omitempty"`
	TimedOut  bool     `json:"timed_out,omitempty"`
	Verdict   string   `json:"verdict,omitempty"`
	Rule      string   `json:"rule,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	WaitMS    *float64 `json:"wait_ms,omitempty"`
	Outcome   string   `json:"outcome,omitempty"`
	EndCode   *int     `json:"end_exit_code,omitempty"`
	Rehearsed bool     `json:"rehearsed"`
}

// printRehearsal runs the rehearsal by a clock on which waits take no time, and
// prints one line for each attempt as it goes.
func printRehearsal(out io.Writer, o *option.Options) error {
	err := readRehearsed(o)
	if err == nil {
		err = readRuleFiles(o)
	}
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	stop := make(chan attempt.Signal, 1)
	rows := &rehearsedRows{unlimited: o.Policy.Attempts == 0, stop: stop, print: func(r *rehearsedRow) error { r.print(w); return w.Flush() }}
	if o.LogFormat == "json" {
		w.WriteString(`{"rehearsal":[`)
		rows.print = func(r *rehearsedRow) error { return r.printJSON(w) }
	}
	rehearsalOf(o, rows, stop).Run(context.Background())
	switch {
	case rows.failed != nil:
		return rows.failed
	case o.LogFormat == "json":
		w.WriteString("]}\n")
	case rows.count == 0:
		fmt.Fprintln(w, "no attempt: the deadline leaves no time for one")
	case rows.unlimited && rows.count == mostRows:
		fmt.Fprintln(w, "and so on: attempts are unlimited")
	}
	return w.Flush()
}

// rehearsalOf is the run, with the guards asked of a private state.
func rehearsalOf(o *option.Options, rows *rehearsedRows, stop <-chan attempt.Signal) *engine.Engine {
	clock := engine.NewArithmetic(time.Now())
	signals := engine.Signals{Cancelled: stop}
	starter := rehearsing(o, notRun{}, signals)
	starter.Clock = clock
	for _, output := range []*rehearse.Output{&starter.Stdout, &starter.Stderr} {
		output.To, output.Held = io.Discard, false
	}
	e := &engine.Engine{
		Policy: o.Policy, Argv: o.Command, Starter: starter, Sink: rows, Signals: signals, Draw: draw(o, 0), Clock: clock,
		Hooks: hook.Set{RetryWith: o.Hooks.RetryWith},
	}
	if o.Guarding.Key != "" && o.Guarding.Guards.Any() {
		e.Gate = privateGate(o, clock, e.GateEvent)
	}
	return e
}

// notRun stands for the command, whose result is not known: it ends the run.
type notRun struct{}

// Start starts nothing.
func (notRun) Start(context.Context, attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result { return attempt.Result{Cancelled: "SIGTERM"} })
}

// mostRows is how many attempts are printed where they are unlimited.
const mostRows = 100

// rehearsedRows prints each attempt once it is known what follows it.
type rehearsedRows struct {
	print     func(*rehearsedRow) error
	unlimited bool
	stop      chan<- attempt.Signal
	row       *rehearsedRow
	count     int
	done      bool
	failed    error
}

// Emit takes in what befalls an attempt.
func (s *rehearsedRows) Emit(e event.Event) {
	if s.done {
		return
	}
	switch e := e.(type) {
	case *event.AttemptStarted:
		s.row = &rehearsedRow{Attempt: e.Attempt, StartsMS: show.Milliseconds(e.Elapsed)}
		if !e.Rehearsed {
			s.row.Decision = "run"
			s.flush()
			s.done = true
		}
	case *event.AttemptFinished:
		r := &e.Result
		s.row.Rehearsed, s.row.ExitCode, s.row.Signal, s.row.TimedOut = true, &r.ExitCode, string(r.Signal), r.TimedOut
		s.row.Verdict, s.row.Rule, s.row.Reason = string(e.Verdict), e.Rule, e.Reason
		if s.row.Decision = "stop"; e.Success {
			s.row.Decision = "success"
		}
	case *event.RetryScheduled:
		wait := show.Milliseconds(e.Jittered)
		s.row.Decision, s.row.WaitMS = "retry", &wait
		s.flush()
		if s.unlimited && s.count == mostRows {
			s.end()
		}
	case *event.GuardRefused:
		if s.row == nil {
			s.row = &rehearsedRow{Attempt: e.Attempt + 1, StartsMS: show.Milliseconds(e.Elapsed)}
		}
		s.row.refused(e.Reason)
		s.flush()
		s.done = true
	case *event.RunFinished:
		if s.row != nil {
			s.row.end(e)
			s.flush()
		}
		if e.Outcome == event.Failed {
			s.failed = errors.Join(s.failed, errors.New(e.Reason))
		}
	}
}

// Close has nothing left to print.
func (s *rehearsedRows) Close(context.Context) error { return nil }

// flush prints the row. Where that fails nothing follows.
func (s *rehearsedRows) flush() {
	if s.failed = s.print(s.row); s.failed != nil {
		s.end()
	}
	s.count++
	s.row = nil
}

// end ends the run, which is in front of a wait, or over.
func (s *rehearsedRows) end() {
	s.done = true
	select {
	case s.stop <- "SIGTERM":
	default:
	}
}

// refused is how an attempt ends that a guard lets nothing follow, or not even
// itself.
func (r *rehearsedRow) refused(why string) {
	r.Decision, r.Outcome, r.EndCode = "refused", string(event.Refused), r.ExitCode
	if r.Reason != "" {
		why = r.Reason + "; " + why
	}
	r.Reason = why
}

// end is how the last attempt ends.
func (r *rehearsedRow) end(e *event.RunFinished) {
	r.Outcome, r.EndCode = string(e.Outcome), &e.ExitCode
	if e.Why != "" {
		r.Reason += "; " + e.Why
	}
}

// printJSON writes one attempt as an object of a list.
func (r *rehearsedRow) printJSON(w *bufio.Writer) error {
	if r.Attempt > 1 {
		w.WriteByte(',')
	}
	var line bytes.Buffer
	if err := text.WriteJSON(&line, r); err != nil {
		return err
	}
	_, err := w.Write(bytes.TrimSpace(line.Bytes()))
	return err
}

// print writes one attempt for a person.
func (r *rehearsedRow) print(w io.Writer) {
	starts := message.Duration(time.Duration(r.StartsMS * float64(time.Millisecond)))
	text := r.Reason
	if r.Rule != "" {
		text += " [" + r.Rule + "]"
	}
	switch r.Decision {
	case "run":
		text = "the command is run, and what follows depends on it"
	case "retry":
		text += "; next try in " + message.Duration(time.Duration(*r.WaitMS*float64(time.Millisecond)))
	default:
		text += "; " + r.Outcome
		if r.EndCode != nil {
			text += fmt.Sprintf(", exit code %d", *r.EndCode)
		}
	}
	fmt.Fprintf(w, "attempt %d at %s: %s\n", r.Attempt, starts, message.Printable(text))
}
