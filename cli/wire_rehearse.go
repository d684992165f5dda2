package cli

// This file puts a rehearsal in place of the command, and prints --plan --rehearse:
// the decisions of a rehearsed run, without waits and without running anything.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/retrysh/retry/cli/input"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/clock"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/engine/rehearse"
	"github.com/retrysh/retry/engine/text"
)

// rehearsing returns a starter whose attempts are rehearsed.
func rehearsing(o *option.Options, real attempt.Starter, signals engine.Signals) *rehearse.Starter {
	output := func(name string, to *os.File, mode stdio.OutputMode) rehearse.Output {
		out := rehearse.Output{Direct: to}
		if mode == stdio.Hold {
			out = rehearse.Output{Released: to, Rejected: os.Stderr}
		}
		if name != "" { // it is opened anew for each attempt
			out.Open = func() (io.ReadCloser, error) { return os.Open(name) }
		}
		return out
	}
	return &rehearse.Starter{
		Steps: o.Rehearse, Real: real, Draw: draw(o, 1),
		Stdout:  output(o.RehearseStdout, os.Stdout, o.Process.Stdout),
		Stderr:  output(o.RehearseStderr, os.Stderr, o.Process.Stderr),
		Signals: signals,
	}
}

// checkRehearsed checks that each attempt can read what it writes from the first byte.
func checkRehearsed(o *option.Options) error {
	if o.Rehearse == nil {
		return nil
	}
	for _, f := range [][2]string{{"--rehearse-stdout", o.RehearseStdout}, {"--rehearse-stderr", o.RehearseStderr}} {
		if f[1] == "" {
			continue
		}
		info, err := os.Stat(f[1])
		if err == nil {
			if err = input.Regular(f[1], info); err != nil && !info.IsDir() {
				err = fmt.Errorf("%w, and each attempt reads it from its first byte", err)
			}
		}
		if err == nil {
			var file *os.File
			if file, err = os.Open(f[1]); err == nil {
				err = file.Close()
			}
		}
		if err != nil {
			return option.Usage(f[0], err)
		}
	}
	return nil
}

// privateGate is the gate of a rehearsal: its state is shared with no other run.
func privateGate(o *option.Options, now *clock.Clock) *admission.Gate {
	return admission.New(&admission.Config{
		Key: o.Key, Guards: o.Guards, Clock: now, Random: rand.Uint64,
		Primary: admission.Named{Store: &admission.Memory{Clock: now}, Name: "rehearsal"},
	})
}

// printRehearsal runs the rehearsal on a clock on which waits take no time.
func printRehearsal(out io.Writer, o *option.Options) error {
	if err := checkRehearsed(o); err != nil {
		return err
	}
	if err := readRuleFiles(o, nil); err != nil {
		return err
	}
	r := &rehearsal{w: bufio.NewWriter(out), json: o.LogFormat == "json", unlimited: o.Policy.Attempts == 0, stop: make(chan attempt.Signal, 1)}
	if r.json {
		r.w.WriteString(`{"rehearsal":[`)
	}
	r.engine(o).Run(context.Background())
	switch {
	case r.failed != nil:
		return r.failed
	case r.json:
		r.w.WriteString("]}\n")
	case r.count == 0:
		fmt.Fprintln(r.w, "no attempt: the deadline leaves no time for one")
	case r.unlimited && r.count == mostRows:
		fmt.Fprintln(r.w, "and so on: attempts are unlimited")
	}
	return r.w.Flush()
}

// rehearsal prints each attempt once it is known what follows it.
type rehearsal struct {
	w               *bufio.Writer
	json, unlimited bool
	stop            chan attempt.Signal
	row             *rehearsedRow // of the attempt that is not printed yet
	count           int
	done            bool
	failed          error
}

// mostRows is how many attempts are printed where they are unlimited.
const mostRows = 100

// rehearsedRow is one attempt of --plan --rehearse in JSON.
type rehearsedRow struct {
	Attempt   int      `json:"attempt"`
	Starts    text.MS  `json:"starts_ms"`
	Decision  string   `json:"decision"` // success, retry, stop, run (the command would be) or refused
	ExitCode  *int     `json:"exit_code,omitempty"`
	Signal    string   `json:"signal,omitempty"`
	TimedOut  bool     `json:"timed_out,omitempty"`
	Verdict   string   `json:"verdict,omitempty"`
	Rule      string   `json:"rule,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Wait      *text.MS `json:"wait_ms,omitempty"`
	Outcome   string   `json:"outcome,omitempty"`
	EndCode   *int     `json:"end_exit_code,omitempty"`
	Rehearsed bool     `json:"rehearsed"`
}

// engine is the run, with the guards asked of a private state.
func (r *rehearsal) engine(o *option.Options) *engine.Engine {
	now, signals := clock.New(time.Now()), engine.Signals{Cancelled: r.stop}
	starter := rehearsing(o, notRun{}, signals)
	starter.Clock = now
	for _, output := range []*rehearse.Output{&starter.Stdout, &starter.Stderr} {
		*output = rehearse.Output{Open: output.Open, Direct: io.Discard}
	}
	e := &engine.Engine{
		Policy: o.Policy, Argv: o.Command, Starter: starter, Emit: r.emit, Signals: signals, Draw: draw(o, 0), Clock: now,
		Hooks: engine.Hooks{RetryWith: o.Hooks.RetryWith},
	}
	if o.Key != "" && o.Guards.Any() {
		e.Gate = privateGate(o, now)
	}
	return e
}

// notRun stands for the command, whose result is not known: it ends the run.
type notRun struct{}

func (notRun) Start(context.Context, attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result { return attempt.Result{Cancelled: "SIGTERM"} })
}

// emit adds an event to the row of its attempt.
func (r *rehearsal) emit(e event.Event) {
	if r.done {
		return
	}
	row := r.row
	switch e := e.(type) {
	case *event.AttemptStarted:
		r.row = &rehearsedRow{Attempt: e.Attempt, Starts: text.MS(e.Elapsed)}
		if !e.Rehearsed {
			r.row.Decision = "run"
			r.print()
			r.done = true
		}
	case *event.AttemptFinished:
		result := &e.Result
		row.Rehearsed, row.ExitCode, row.Signal, row.TimedOut = true, &result.ExitCode, string(result.Signal), result.TimedOut
		row.Verdict, row.Rule, row.Reason = string(e.Verdict), e.Rule, e.Reason
		if row.Decision = "stop"; e.Success {
			row.Decision = "success"
		}
	case *event.RetryScheduled:
		row.Decision, row.Wait = "retry", new(text.MS(e.Jittered))
		r.print()
		if r.unlimited && r.count == mostRows {
			r.end()
		}
	case *event.GuardRefused:
		if row == nil {
			r.row = &rehearsedRow{Attempt: e.Attempt + 1, Starts: text.MS(e.Elapsed)}
		}
		row = r.row
		row.Decision, row.Outcome, row.EndCode = "refused", string(event.Refused), row.ExitCode
		if row.Reason != "" {
			row.Reason += "; "
		}
		row.Reason += e.Reason
		r.print()
		r.done = true
	case *event.RunFinished:
		if row != nil {
			row.Outcome, row.EndCode = string(e.Outcome), &e.ExitCode
			if e.Why != "" {
				row.Reason += "; " + e.Why
			}
			r.print()
		}
		if e.Outcome == event.Failed {
			r.failed = errors.Join(r.failed, errors.New(e.Reason))
		}
	}
}

// print prints the row. Where that fails nothing follows.
func (r *rehearsal) print() {
	if r.json {
		var line bytes.Buffer
		if r.failed = text.WriteJSON(&line, r.row); r.row.Attempt > 1 {
			r.w.WriteByte(',')
		}
		r.w.Write(bytes.TrimSpace(line.Bytes()))
	} else {
		fmt.Fprintf(r.w, "attempt %d at %s: %s\n", r.row.Attempt, message.Duration(time.Duration(r.row.Starts)), message.Printable(r.row.text()))
		r.failed = r.w.Flush()
	}
	r.count++
	r.row = nil
	if r.failed != nil {
		r.end()
	}
}

// end ends the run, which is before a wait, or over.
func (r *rehearsal) end() {
	r.done = true
	select {
	case r.stop <- "SIGTERM":
	default:
	}
}

// text is the row for a person.
func (row *rehearsedRow) text() string {
	line := row.Reason
	if row.Rule != "" {
		line += " [" + row.Rule + "]"
	}
	switch {
	case row.Decision == "run":
		return "the command is run, and what follows depends on it"
	case row.Decision == "retry":
		return line + "; next try in " + message.Duration(time.Duration(*row.Wait))
	case row.EndCode == nil:
		return line + "; " + row.Outcome
	}
	return fmt.Sprintf("%s; %s, exit code %d", line, row.Outcome, *row.EndCode)
}
