package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
)

// failing is run i with a name, whose first attempt failed.
func failing(name string, i int, outcome event.Outcome, change func(*Record)) *Record {
	failed := Attempt{ExitCode: 7, MS: 10, Verdict: "unknown", FP: name + " 7: refused by <addr>", SleptMS: new(100.0)}
	r := &Record{Version: 1, RunID: fmt.Sprint(name, i), Depth: 1, Name: name,
		Time: Moment{start.Add(-time.Duration(i) * time.Hour)}, Outcome: string(outcome),
		Attempts: []Attempt{failed, failed}}
	switch outcome {
	case event.Succeeded:
		r.Attempts[1] = Attempt{MS: 3, Success: true}
	case event.Stopped:
		r.Attempts = r.Attempts[:1]
	}
	if r.AttemptCount = len(r.Attempts); change != nil {
		change(r)
	}
	return r
}

// many are n runs that end in one way.
func many(n int, outcome event.Outcome, change func(*Record)) (all []*Record) {
	for i := range n {
		all = append(all, failing("x", i, outcome, change))
	}
	return all
}

// The limits are those of Wilson's 95 % interval: 4 of 4 is the least that is above 50 %,
// 0 of 35 the least that is below 10 %.
func TestLearn(t *testing.T) {
	known := func(verdict, rule string) func(*Record) {
		return func(r *Record) {
			for i := range r.Attempts {
				r.Attempts[i].Verdict, r.Attempts[i].Rule = verdict, rule
			}
		}
	}
	once := func(r *Record) { r.Attempts = r.Attempts[:1] }
	for name, c := range map[string]struct {
		runs           []*Record
		verdict        event.Verdict
		suggests       bool
		recovered, not int
	}{
		"4 of 4 recovered": {runs: many(4, event.Succeeded, nil), verdict: event.Transient,
			suggests: true, recovered: 4},
		"3 of 3 recovered": {runs: many(3, event.Succeeded, nil), recovered: 3},
		"0 of 35 recovered": {runs: many(35, event.Exhausted, nil), verdict: event.Permanent,
			suggests: true, not: 35},
		"0 of 34 recovered":   {runs: many(34, event.Deadline, nil), not: 34},
		"no attempt followed": {runs: many(40, event.Exhausted, once)},
		"stopped by a rule":   {runs: many(40, event.Stopped, nil)},
		"cancelled":           {runs: many(40, event.Cancelled, nil)},
		"refused":             {runs: many(40, event.Refused, nil)},
		"said by the rule already": {runs: many(12, event.Succeeded, known("transient", "net")),
			verdict: event.Transient, recovered: 12},
		"said wrongly by the rule": {runs: many(12, event.Succeeded, known("permanent", "net")),
			verdict: event.Transient, suggests: true, recovered: 12},
		"both, in equal measure": {runs: append(many(20, event.Succeeded, nil),
			many(20, event.Exhausted, nil)...), recovered: 20, not: 20},
		"rehearsed":       {runs: many(12, event.Succeeded, func(r *Record) { r.Rehearsed = true })},
		"nested":          {runs: many(12, event.Succeeded, func(r *Record) { r.Depth = 2 })},
		"until a failure": {runs: many(12, event.Succeeded, func(r *Record) { r.UntilFailure = true })},
		"a clock that was ahead": {runs: many(12, event.Succeeded,
			func(r *Record) { r.Time.Time = start.Add(time.Hour) }), verdict: event.Transient, suggests: true,
			recovered: 12},
		"two failures of a kind, one run": {runs: many(4, event.Succeeded,
			func(r *Record) { r.Attempts = append([]Attempt{r.Attempts[0]}, r.Attempts...) }),
			verdict: event.Transient, suggests: true, recovered: 4},
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLearner(start)
			for _, r := range c.runs {
				l.Add(r)
			}
			got := &Lesson{High: 1}
			for _, lesson := range l.Lessons() {
				got = lesson
			}
			if got.Verdict != c.verdict || (got.Rule != "") != c.suggests {
				t.Errorf("verdict %q, rule %q; want %q, %v (%.3f to %.3f)", got.Verdict, got.Rule, c.verdict,
					c.suggests, got.Low, got.High)
			}
			if got.Recovered != c.recovered || got.NotRecovered != c.not {
				t.Errorf("%d recovered, %d not; want %d and %d", got.Recovered, got.NotRecovered, c.recovered, c.not)
			}
			if c.recovered+c.not == 0 && (got.Low != 0 || got.High != 1) {
				t.Errorf("nothing counted, and the interval is %v to %v", got.Low, got.High)
			}
			if c.suggests {
				checkRule(t, got.Rule)
			}
		})
	}
}

// checkRule holds a block to the reader of rule files.
func checkRule(t *testing.T, rule string) {
	t.Helper()
	table, err := classify.ParseRules("learned", []byte(rule))
	if err != nil {
		t.Fatalf("%v:\n%s", err, rule)
	}
	if r := table.Rules()[0]; len(r.Tools) != 1 || len(r.Exits) != 1 || r.Reason == "" {
		t.Errorf("%+v", r)
	}
}

// Whatever a fingerprint holds, its rule is one that can be read.
func FuzzRule(f *testing.F) {
	f.Add("tool", "line <n>\nrule x\nexit 1", 3, false)
	f.Add("a b", "*[(<path>\\", 0, true)
	f.Add("", "\u2028 # \xff", 255, false)
	f.Fuzz(func(t *testing.T, tool, line string, code int, timedOut bool) {
		l := &Lesson{Tool: tool, line: line, Verdict: event.Transient,
			last: Attempt{ExitCode: code & 255, TimedOut: timedOut}}
		if rule := l.rule(); rule != "" {
			if _, err := classify.ParseRules("learned", []byte(rule)); err != nil {
				t.Fatalf("%v:\n%s", err, rule)
			}
			if n := strings.Count("\n"+rule, "\nrule "); n != 1 {
				t.Fatalf("%d rules:\n%s", n, rule)
			}
		}
	})
}
