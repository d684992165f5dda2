package show

// This file is --explain: it judges a given result with the rules, evidence and
// decision of a run, and says why.

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/input"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
)

// explained is the JSON object of --explain. The first five fields are always there.
type explained struct {
	Verdict  string   `json:"verdict"`
	Rule     string   `json:"rule"`
	Reason   string   `json:"reason"`
	Decision string   `json:"decision"`
	Hint     *text.MS `json:"hint_ms"`
	// Why says what the decision follows from, Advice what the program would add at
	// the end of a run.
	Why    string `json:"why,omitempty"`
	Advice string `json:"advice,omitempty"`
	// Won says what the deciding rule had over another one, Last which line was the last
	// if no rule knows the failure.
	Won  string `json:"won,omitempty"`
	Last string `json:"last_line,omitempty"`
	// Matched are the rules of the table that matched, the weightiest first.
	Matched []explainedRule `json:"matched,omitempty"`

	hintUsed bool // the decision follows the hint
}

// explainedRule is one rule of the table that matched.
type explainedRule struct {
	Rule     string `json:"rule"`
	Verdict  string `json:"verdict"`
	Strength string `json:"strength"`
	Reason   string `json:"reason"`
	Source   string `json:"source,omitempty"`
	Where    string `json:"where"` // file and line
	// Stream and Line are what the rule matched, "" if the exit code was enough.
	Stream string `json:"stream,omitempty"`
	Line   string `json:"line,omitempty"`
}

// Explain judges and prints; no process is started.
func Explain(w io.Writer, o *option.Options) error {
	rules, result := &o.Policy.Rules, attempt.Result(o.Exit)
	stdout, stderr := rules.Reads()
	rules.ReadStdout, rules.ReadStderr = true, true
	watch := rules.NewWatch()
	for _, file := range []struct {
		flag, name string
		into       io.Writer
	}{{"--stdout-file", string(o.StdoutFile), watch.Stdout}, {"--stderr-file", string(o.StderrFile), watch.Stderr}} {
		if file.name == "" {
			continue
		}
		f, err := input.Open(file.name)
		if err == nil {
			_, err = io.Copy(file.into, f)
			f.Close()
		}
		if err != nil {
			return option.Usage(file.flag, err)
		}
	}
	now := o.At.Time
	if now.IsZero() {
		now = time.Now()
	}
	evidence := watch.Close()
	state := o.Policy.First()
	state.Argv = o.Command
	if o.Policy.Deadline > 0 {
		state.Deadline = now.Add(o.Policy.Deadline) // as if the run had begun now
	}
	d := engine.Decide(&o.Policy, state, result, evidence, now, 0.5)
	x := explained{Verdict: string(d.Verdict), Rule: d.Rule, Reason: d.Reason}
	if !d.Accepted {
		x.match(rules.Table(), classify.Failure{
			Argv: o.Command, Result: result, Stdout: evidence.Stdout, Stderr: evidence.Stderr, Order: evidence.Order,
		})
		if hint, ok, _ := engine.FindHint(&rules.Hints, evidence, now); ok {
			x.Hint = new(text.MS(hint))
		}
	}
	// The verdict considers all output, the decision what a run with these flags reads.
	if !stdout {
		evidence.Stdout, evidence.StdoutHead = nil, nil
	}
	if !stderr {
		evidence.Stderr, evidence.StderrHead = nil, nil
	}
	x.decide(o, engine.Decide(&o.Policy, state, result, evidence, now, 0.5))
	if o.LogFormat == "json" {
		return text.WriteJSON(w, x)
	}
	return x.print(w)
}

func (x *explained) match(table *classify.Table, f classify.Failure) {
	j := table.Judge(f)
	if j.Rule == x.Rule {
		x.Won = j.Won
	}
	if j.Last.Line != "" {
		x.Last = j.Last.Stream + ": " + shortLine(j.Last.Line)
	}
	for _, m := range j.Matches {
		r := m.Rule
		x.Matched = append(x.Matched, explainedRule{
			Rule:     r.ID,
			Verdict:  string(r.Verdict),
			Strength: r.Strength.String(),
			Reason:   r.Reason,
			Source:   r.Source,
			Where:    r.Where(),
			Stream:   m.Stream,
			Line:     shortLine(m.Line),
		})
	}
	// A run under --classify any keeps a guess by the exit code for its last
	// line; here it was asked for.
	if len(x.Matched) > 0 && x.Matched[0].Rule == x.Rule && !strings.HasPrefix(x.Reason, "killed by KILL") &&
		!strings.Contains(x.Reason, x.Matched[0].Reason) {
		x.Reason += ": " + x.Matched[0].Reason
	}
}

func (x *explained) decide(o *option.Options, d engine.Decision) {
	x.Why = because(o, &d)
	x.Advice = d.Advice
	x.hintUsed = d.HasHint
	if x.Advice == "" && !d.Unnamed && d.Why != x.Why {
		x.Advice = d.Why
	}
	if d.HasHint {
		x.Hint = new(text.MS(d.Hint))
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

// because says what the decision follows from.
func because(o *option.Options, d *engine.Decision) string {
	switch {
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
	}
	reason := map[engine.Mode][2]string{ // of a stop and of a retry
		engine.Smart: {
			"--classify smart does not retry what is permanent",
			"--classify smart retries what is not known to be permanent",
		},
		engine.Strict: {
			"--classify strict retries only what is known to be transient",
			"--classify strict retries what is known to be transient",
		},
		engine.Any: {"", "--classify any retries every failure"},
	}[o.Policy.Rules.Mode]
	if d.Retry {
		return reason[1]
	}
	return reason[0]
}

// shortLine is the first 160 bytes of an output line, without secrets.
func shortLine(line string) string {
	const most = 160
	if line = text.Masked(text.OneLine(line)); len(line) > most {
		return text.Cut(line, most) + "..."
	}
	return line
}

func (x *explained) print(w io.Writer) error {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-9s %s\n", name, value)
		}
	}
	row("verdict", x.Verdict)
	row("reason", x.Reason)
	rule, others := x.Rule, x.Matched
	if rule == "" && x.Decision != "success" {
		rule = "none knows this failure"
	}
	row("rule", rule)
	if len(others) > 0 && others[0].Rule == x.Rule {
		row("matched", others[0].evidence())
		row("source", others[0].Source)
		row("where", others[0].Where)
		others = others[1:]
	}
	row("won", x.Won)
	row("last line", x.Last)
	row("decision", x.Decision)
	row("why", x.Why)
	row("note", x.Advice)
	if x.Hint != nil {
		hint := "wait at least " + exact(*x.Hint)
		if x.Decision == "retry" && !x.hintUsed {
			hint += ", if it were read: --retry-after auto, --classify smart or a pattern has the output read"
		}
		row("hint", hint)
	}
	for _, m := range others {
		row("also", fmt.Sprintf("%s (%s, %s) matched %s", m.Rule, m.Verdict, m.Strength, m.evidence()))
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
