package cli

// This file is --explain: it judges a result that is given to it, with the
// same rules, evidence and decision as a run, and says why.

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/retrysh/retry/engine"
)

// explained is the JSON object of --explain, with the contract's field names.
type explained struct {
	Verdict  string   `json:"verdict"`
	Rule     string   `json:"rule"`
	Reason   string   `json:"reason"`
	Decision string   `json:"decision"`
	HintMS   *float64 `json:"hint_ms"`
	Others   []string `json:"others,omitempty"`
}

// explain judges and prints; no process is started.
func explain(w io.Writer, o *options) error {
	table, err := ruleTable(o.rules)
	if err != nil {
		return err
	}
	rules := &o.policy.Rules
	rules.Table = table
	rules.Hints.Capture = true
	watch := rules.NewWatch()
	for _, file := range []struct {
		name string
		into io.Writer
	}{{o.explain.stdoutFile, watch.Stdout()}, {o.explain.stderrFile, watch.Stderr()}} {
		if err := feed(file.name, file.into); err != nil {
			return err
		}
	}
	now := o.explain.at
	if now.IsZero() {
		now = time.Now()
	}
	evidence := watch.Close()
	state := engine.State{Attempt: 1, Step: 1, Previous: o.policy.Schedule.First(), Argv: o.command}
	d := engine.Decide(&o.policy, state, o.explain.result, evidence, now, 0.5)
	x := explained{Verdict: string(d.Verdict), Rule: d.Rule, Reason: d.Reason, Decision: "stop", Others: d.Others}
	switch {
	case d.Accepted:
		x.Decision = "success"
	case d.Retry:
		x.Decision = "retry"
	}
	if hint, ok := engine.FindHint(&rules.Hints, evidence, now); ok && !d.Accepted {
		ms := float64(hint.Wait.Microseconds()) / 1000
		x.HintMS = &ms
	}
	if o.logFormat == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(x)
	}
	return x.print(w, d)
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
func (x *explained) print(w io.Writer, d engine.Decision) error {
	rows := [][2]string{{"verdict", x.Verdict}, {"rule", x.Rule}, {"reason", x.Reason}, {"decision", x.Decision}}
	if x.HintMS != nil {
		rows = append(rows, [2]string{"hint", fmt.Sprintf("%gms", *x.HintMS)})
	}
	rows = append(rows, [2]string{"why", d.Advice}, [2]string{"others", strings.Join(x.Others, ", ")})
	var b strings.Builder
	for _, row := range rows {
		if row[1] != "" {
			fmt.Fprintf(&b, "%-9s %s\n", row[0], row[1])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
