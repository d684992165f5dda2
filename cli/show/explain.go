package show

// This file is --explain: it judges a result that is given to it, with the
// same rules, evidence and decision as a run, and says why.

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
)

// explained is the JSON object of --explain. The first five fields
// are those of the decision; those of the table's rules follow.
type explained struct {
	Verdict  string   `json:"verdict"`
	Rule     string   `json:"rule"`
	Reason   string   `json:"reason"`
	Decision string   `json:"decision"`
	HintMS   *float64 `json:"hint_ms"`
	// Why says what the decision follows from, Advice what the program would
	// add at the end of a run.
	Why    string `json:"why,omitempty"`
	Advice string `json:"advice,omitempty"`
	// hintUsed says that the decision follows the hint.
	hintUsed bool
	// Matched are the rules of the table that matched, the weightiest first.
	Matched []explainedRule `json:"matched,omitempty"`
}

// explainedRule is one rule of the table that matched.
type explainedRule struct {
	Rule     string `json:"rule"`
	Verdict  string `json:"verdict"`
	Strength string `json:"strength"`
	Reason   string `json:"reason"`
	Source   string `json:"source,omitempty"`
	// Where is the rule's file and line.
	Where string `json:"where"`
	// Stream and Line are what the rule matched, absent where the exit code was
	// enough.
	Stream string `json:"stream,omitempty"`
	Line   string `json:"line,omitempty"`
}

// Explain judges and prints; no process is started.
func Explain(w io.Writer, o *option.Options) error {
	rules := &o.Policy.Rules
	table := rules.Table
	stdout, stderr := rules.Reads()
	rules.Hints.Capture = true
	watch := rules.NewWatch()
	for _, file := range []struct {
		flag, name string
		into       io.Writer
	}{{"--stdout-file", o.Explain.StdoutFile, watch.Stdout()}, {"--stderr-file", o.Explain.StderrFile, watch.Stderr()}} {
		if err := feed(file.name, file.into); err != nil {
			return option.Usage(file.flag, err)
		}
	}
	now := o.Explain.At
	if now.IsZero() {
		now = time.Now()
	}
	evidence := watch.Close()
	state := engine.State{Attempt: 1, Step: 1, Previous: o.Policy.Schedule.First(), Argv: o.Command}
	if o.Policy.Deadline > 0 {
		state.Deadline = now.Add(o.Policy.Deadline) // as if the run had begun now
	}
	d := engine.Decide(&o.Policy, state, o.Explain.Result, evidence, now, 0.5)
	x := explained{Verdict: string(d.Verdict), Rule: d.Rule, Reason: d.Reason}
	if !d.Accepted {
		x.hold(table(), classify.Failure{Argv: o.Command, Result: o.Explain.Result, Stdout: evidence.Stdout, Stderr: evidence.Stderr, Now: now})
		if hint, ok, _ := engine.FindHint(&rules.Hints, evidence, now); ok {
			x.wait(hint.Wait)
		}
	}
	// The verdict is about all that is there, the decision that of a run under
	// these flags, which may not get to read it.
	if !stdout {
		evidence.Stdout, evidence.StdoutHead = nil, nil
	}
	if !stderr {
		evidence.Stderr, evidence.StderrHead = nil, nil
	}
	x.decide(o, engine.Decide(&o.Policy, state, o.Explain.Result, evidence, now, 0.5))
	if o.LogFormat == "json" {
		return text.WriteJSON(w, x)
	}
	return x.print(w)
}

// decide takes over what a run would do.
func (x *explained) decide(o *option.Options, d engine.Decision) {
	x.Why, x.Advice, x.hintUsed = because(o, &d), d.Advice, d.HasHint
	if x.Advice == "" && !d.Unnamed && d.Why != x.Why {
		x.Advice = d.Why
	}
	if d.HasHint {
		x.wait(d.Hint)
	}
	switch {
	case d.Accepted:
		x.Decision = "success"
	case d.Retry:
		x.Decision = "retry"
	default:
		x.Decision = "stop"
	}
}

// wait takes over a hint.
func (x *explained) wait(hint time.Duration) {
	ms := text.Milliseconds(hint)
	x.HintMS = &ms
}

// hold takes over what the table knows of the failure.
func (x *explained) hold(table *classify.Table, f classify.Failure) {
	for _, m := range table.Judge(f).Matches {
		x.Matched = append(x.Matched, explainedRule{
			Rule: m.Rule.ID, Verdict: string(m.Rule.Verdict), Strength: m.Rule.Strength.String(), Reason: m.Rule.Reason,
			Source: m.Rule.Source, Where: m.Rule.Where(), Stream: m.Stream, Line: shortLine(m.Line),
		})
	}
	// A run under --classify any keeps a guess by the exit code for its last
	// line; here it was asked for.
	if len(x.Matched) > 0 && x.Matched[0].Rule == x.Rule && !strings.Contains(x.Reason, x.Matched[0].Reason) {
		x.Reason += ": " + x.Matched[0].Reason
	}
}

// because says what the decision follows from.
func because(o *option.Options, d *engine.Decision) string {
	switch mode := o.Policy.Rules.Mode; {
	case d.Accepted:
		return ""
	case strings.HasPrefix(d.Rule, "--"):
		return d.Rule + " says so"
	case d.Outcome == event.Exhausted:
		return "--attempts allows no other"
	case d.Unnamed:
		return "no --on-* rule names it"
	case d.Why != "" && (d.HasHint || d.Outcome == event.Deadline):
		return "a wait that is too long is not begun"
	case mode == engine.Smart && d.Retry:
		return "--classify smart retries what is not known to be permanent"
	case mode == engine.Smart:
		return "--classify smart does not retry what is permanent"
	case mode == engine.Strict && d.Retry:
		return "--classify strict retries what is known to be transient"
	case mode == engine.Strict:
		return "--classify strict retries only what is known to be transient"
	case d.Retry:
		return "--classify any retries every failure"
	}
	return ""
}

// shownLine is how many bytes of an output line --explain shows.
const shownLine = 160

// shortLine is the beginning of an output line, without secrets; JSON answers can be
// long.
func shortLine(line string) string {
	line = text.Masked(text.OneLine(line))
	if len(line) <= shownLine {
		return line
	}
	return text.Cut(line, shownLine) + "..."
}

// feed gives the file to the watch, piece by piece.
func feed(name string, into io.Writer) error {
	if name == "" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(into, f)
	return err
}

// print writes the judgement for a person.
func (x *explained) print(w io.Writer) error {
	rows := [][2]string{{"verdict", x.Verdict}, {"reason", x.Reason}, {"rule", x.Rule}}
	others := x.Matched
	switch {
	case len(others) > 0 && others[0].Rule == x.Rule:
		first := others[0]
		others = others[1:]
		rows = append(rows, [2]string{"matched", first.evidence()}, [2]string{"source", first.Source}, [2]string{"where", first.Where})
	case x.Rule == "" && x.Decision != "success":
		rows[2][1] = "none knows this failure"
	}
	rows = append(rows, [2]string{"decision", x.Decision}, [2]string{"why", x.Why}, [2]string{"note", x.Advice})
	if x.HintMS != nil {
		hint := "wait at least " + time.Duration(*x.HintMS*float64(time.Millisecond)).String()
		if x.Decision == "retry" && !x.hintUsed {
			hint += ", if it were read: --retry-after auto, --classify smart or a pattern has the output read"
		}
		rows = append(rows, [2]string{"hint", hint})
	}
	for _, m := range others {
		rows = append(rows, [2]string{"also", fmt.Sprintf("%s (%s, %s) matched %s", m.Rule, m.Verdict, m.Strength, m.evidence())})
	}
	var b strings.Builder
	for _, row := range rows {
		if row[1] != "" {
			fmt.Fprintf(&b, "%-9s %s\n", row[0], row[1])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// evidence says what the rule matched.
func (r *explainedRule) evidence() string {
	if r.Stream == "" {
		return "the exit code"
	}
	return r.Stream + ": " + r.Line
}
