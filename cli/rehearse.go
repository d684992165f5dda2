package cli

// This file is --plan --rehearse: the decisions of a rehearsed run, without
// waiting and without running anything.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/gate"
	"github.com/retrysh/retry/engine/rehearse"
	"github.com/retrysh/retry/engine/tell"
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

// printRehearsal walks the decisions and prints one line for each attempt.
func printRehearsal(out io.Writer, o *options) error {
	if err := readRehearsed(o); err != nil {
		return err
	}
	if err := readRuleFiles(o); err != nil {
		return err
	}
	rows, err := rehearsedRows(o)
	if err != nil {
		return err
	}
	if o.logFormat == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(map[string][]rehearsedRow{"rehearsal": rows})
	}
	w := bufio.NewWriter(out)
	for i := range rows {
		rows[i].print(w)
	}
	switch {
	case len(rows) == 0:
		fmt.Fprintln(w, "no attempt: the deadline leaves no time for one")
	case o.policy.Attempts == 0 && len(rows) == rehearse.MostRows:
		fmt.Fprintln(w, "and so on: attempts are unlimited")
	}
	return w.Flush()
}

// rehearsedRows walks the run.
func rehearsedRows(o *options) ([]rehearsedRow, error) {
	evidence, err := rehearsedEvidence(o)
	if err != nil {
		return nil, err
	}
	p := &rehearse.Plan{
		Steps: o.rehearsal.steps, Policy: &o.policy, Argv: o.command, Evidence: evidence,
		Draw: rand.Float64, Chance: chance(o), Begin: time.Now(),
	}
	if o.hasSeed {
		p.Draw = rand.New(rand.NewPCG(o.seed, 0)).Float64
	}
	var guards *gate.Gate
	if o.guarding.key != "" && o.guarding.guards.Any() {
		guards = privateGate(o, p.Now, func(event.Event) {})
		p.Gate = guards
	}
	rows := []rehearsedRow{}
	p.Walk(func(r rehearse.Row) { rows = append(rows, rowOf(&r)) })
	return rows, nil
}

func rowOf(r *rehearse.Row) rehearsedRow {
	row := rehearsedRow{Attempt: r.Attempt, StartsMS: milliseconds(r.Starts)}
	d := &r.Decision
	switch {
	case r.Run:
		row.Decision = "run"
		return row
	case r.Refusal != nil && d.Reason == "":
		row.Decision, row.Outcome, row.Reason = "refused", string(event.Refused), r.Refusal.Reason
		return row
	}
	row.Rehearsed, row.ExitCode, row.Signal, row.TimedOut = true, &r.Result.ExitCode, string(r.Result.Signal), r.Result.TimedOut
	row.Verdict, row.Rule, row.Reason = string(d.Verdict), d.Rule, d.Reason
	switch {
	case r.Refusal != nil:
		row.Decision, row.Outcome = "refused", string(event.Refused)
		row.Reason += "; " + r.Refusal.Reason
		row.EndCode = row.ExitCode
		return row
	case d.Retry:
		wait := milliseconds(d.Wait)
		row.Decision, row.WaitMS = "retry", &wait
		return row
	case d.Accepted:
		row.Decision = "success"
	default:
		row.Decision = "stop"
	}
	row.Outcome, row.EndCode = string(d.Outcome), &d.End.Code
	if d.Why != "" {
		row.Reason += "; " + d.Why
	}
	return row
}

// print writes one attempt for a person.
func (r *rehearsedRow) print(w io.Writer) {
	starts := tell.Duration(time.Duration(r.StartsMS * float64(time.Millisecond)))
	text := r.Reason
	if r.Rule != "" {
		text += " [" + r.Rule + "]"
	}
	switch r.Decision {
	case "run":
		text = "the command is run, and what follows depends on it"
	case "retry":
		text += "; next try in " + tell.Duration(time.Duration(*r.WaitMS*float64(time.Millisecond)))
	default:
		text += "; " + r.Outcome
		if r.EndCode != nil {
			text += fmt.Sprintf(", exit code %d", *r.EndCode)
		}
	}
	fmt.Fprintf(w, "attempt %d at %s: %s\n", r.Attempt, starts, tell.Printable(text))
}
