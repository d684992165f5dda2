package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
)

const day = 24 * time.Hour

// failing is a run of a name, so long ago, whose first attempt failed.
func failing(name string, ago time.Duration, outcome event.Outcome, change func(*Record)) *Record {
	failed := Attempt{ExitCode: 7, MS: 10, Verdict: "unknown", FP: name + " 7: refused by <addr>", SleptMS: new(100.0)}
	r := &Record{Version: 1, RunID: fmt.Sprint(name, ago), Depth: 1, Name: name, Time: start.Add(-ago), Outcome: string(outcome), Attempts: []Attempt{failed, failed}}
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

// passed is a run that succeeded at once.
func passed(name string, ago time.Duration) *Record {
	return &Record{Version: 1, RunID: "ok" + fmt.Sprint(name, ago), Depth: 1, Name: name, Time: start.Add(-ago), Outcome: string(event.Succeeded), Attempts: []Attempt{{Success: true}}, AttemptCount: 1}
}

// The truths are known: what is learned of the name x has to be right.
func TestLearn(t *testing.T) {
	commit := func(c string) func(*Record) { return func(r *Record) { r.Commit = c } }
	known := func(verdict, rule string) func(*Record) {
		return func(r *Record) {
			for i := range r.Attempts {
				r.Attempts[i].Verdict, r.Attempts[i].Rule = verdict, rule
			}
		}
	}
	many := func(n int, of func(i int) *Record) (all []*Record) {
		for i := range n {
			all = append(all, of(i))
		}
		return all
	}
	hours := func(i int) time.Duration { return time.Duration(i) * 7 * time.Hour }
	outage := append(many(60, func(i int) *Record { return failing("x", time.Duration(i)*time.Second, event.Exhausted, nil) }),
		failing("a", 0, event.Exhausted, nil), failing("b", 0, event.Exhausted, nil), failing("c", 0, event.Exhausted, nil))
	for i := range 10 {
		outage = append(outage, passed("a", day+hours(i)), passed("b", day+hours(i)), passed("c", day+hours(i)))
	}
	for name, c := range map[string]struct {
		runs                                   []*Record
		verdict                                event.Verdict
		suggests                               bool
		recovered, not, censored, mode, commit int
	}{
		"flaky":                    {runs: many(12, func(i int) *Record { return failing("x", hours(i), event.Succeeded, nil) }), verdict: event.Transient, suggests: true, recovered: 12},
		"broken":                   {runs: many(40, func(i int) *Record { return failing("x", hours(i), event.Exhausted, nil) }), verdict: event.Permanent, suggests: true, not: 40},
		"broken for two days":      {runs: many(40, func(i int) *Record { return failing("x", hours(i)/6, event.Exhausted, nil) }), not: 40},
		"broken in one commit":     {runs: many(40, func(i int) *Record { return failing("x", hours(i), event.Exhausted, commit("c")) }), not: 40, commit: 1},
		"broken in two commits":    {runs: many(40, func(i int) *Record { return failing("x", hours(i), event.Deadline, commit(fmt.Sprint(i%2))) }), verdict: event.Permanent, suggests: true, not: 40, commit: 2},
		"broken long ago":          {runs: many(40, func(i int) *Record { return failing("x", 120*day+hours(i), event.Exhausted, nil) }), not: 40},
		"stopped by a rule":        {runs: many(40, func(i int) *Record { return failing("x", hours(i), event.Stopped, nil) }), censored: 40},
		"cancelled":                {runs: many(40, func(i int) *Record { return failing("x", hours(i), event.Cancelled, nil) }), censored: 40},
		"an hour of failures":      {runs: outage, mode: 60},
		"the same, one name only":  {runs: outage[:60], not: 60},
		"said by the rule already": {runs: many(12, func(i int) *Record { return failing("x", hours(i), event.Succeeded, known("transient", "net")) }), verdict: event.Transient, recovered: 12},
		"said wrongly by the rule": {runs: many(12, func(i int) *Record { return failing("x", hours(i), event.Succeeded, known("permanent", "net")) }), verdict: event.Transient, suggests: true, recovered: 12},
		"rehearsed, nested, until a failure": {runs: many(12, func(i int) *Record {
			return failing("x", hours(i), event.Succeeded, func(r *Record) { r.Rehearsed, r.Depth, r.UntilFailure = i%3 == 0, 1+i%3%2, i%3 == 2 })
		})},
		"both, in equal measure": {runs: many(40, func(i int) *Record {
			return failing("x", hours(i), []event.Outcome{event.Succeeded, event.Exhausted}[i%2], nil)
		}), recovered: 20, not: 20},
		"a clock that was ahead once": {runs: many(12, func(i int) *Record { return failing("x", -hours(i), event.Succeeded, nil) }), verdict: event.Transient, suggests: true, recovered: 12},
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLearner(start)
			for _, r := range c.runs {
				l.Add(r)
			}
			got := &Lesson{}
			for _, lesson := range l.Lessons() {
				if lesson.Tool == "x" {
					got = lesson
				}
			}
			if got.Verdict != c.verdict || (got.Rule != "") != c.suggests {
				t.Errorf("verdict %q, rule %q; want %q, %v (%.3f to %.3f, %d days)", got.Verdict, got.Rule, c.verdict, c.suggests, got.Low, got.High, got.Days)
			}
			if counts, want := fmt.Sprint(got.Recovered, got.NotRecovered, got.Censored, got.CommonMode, got.Commits), fmt.Sprint(c.recovered, c.not, c.censored, c.mode, c.commit); counts != want {
				t.Errorf("counts %s, want %s", counts, want)
			}
			if c.suggests {
				checkRule(t, got.Rule)
			}
			if c.recovered == 12 && (*got.RecoveryP50 != 100 || *got.RecoveryP90 != 100 || got.GivenP50 != nil) {
				t.Errorf("recovery %v, %v, given %v", *got.RecoveryP50, *got.RecoveryP90, got.GivenP50)
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
		l := &Lesson{Tool: tool, line: line, Verdict: event.Transient, last: Attempt{ExitCode: code & 255, TimedOut: timedOut}}
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
