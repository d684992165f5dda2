package history

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// reportOf counts runs until start, since a time before it.
func reportOf(since time.Duration, by string, runs ...*Record) *Report {
	r := NewReport(start, since, by)
	for _, one := range runs {
		r.Add(one)
	}
	return r
}

// TestReport holds every figure of a report of a few runs: of the whole and of a group, with the
// names that are shown.
func TestReport(t *testing.T) {
	runs := []*Record{
		failing("x", 1, event.Succeeded,
			func(r *Record) { r.Attempts[0].JitteredMS = new(90.5); r.Attempts[0].MS = 0.0004 }),
		failing("x", 2, event.Exhausted, nil),
		failing("x", 3, event.Stopped, nil),
		failing("x", 4, event.Cancelled, nil),
		failing("x", 5, event.Refused, func(r *Record) { r.Attempts, r.AttemptCount = nil, 0 }),
		failing("x", 6, event.Deadline, func(r *Record) { r.Attempts[1].MS = 7.0004 }),
		failing("x", 48, event.Succeeded, func(r *Record) { r.Attempts, r.AttemptCount = r.Attempts[1:], 1 }),
	}
	r := reportOf(48*time.Hour, "name", runs...)
	if n := r.Finish(0); n != 1 {
		t.Errorf("%d groups", n)
	}
	for i, want := range map[int]float64{0: 0, 21: 0.5, 22: 1, 23: 1} { // of 2 hours each
		if got := r.Groups[0].Spark[i]; got == nil || *got != want {
			t.Errorf("part %d: %v", i, got)
		}
	}
	r.Groups[0].Spark = nil
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	// 8 failed attempts of 10 ms but for two, with a wait of 100 ms after each.
	want := `{"since":"2026-11-22T01:54:07.123Z","runs":7,"succeeded":2,"first_attempt":1,"recovered":1,"retried":4,` +
		`"gave_up":3,"cancelled":1,"refused":1,` +
		`"rehearsed":0,"nested":0,"success_by_attempt":{"1":1,"2":1},"failed_ms":67.001,"jittered_ms":90.5,` +
		`"slept_ms":800,"bad_lines":0,` +
		`"groups":[{"group":"x","class":"flaky","runs":7,"first_attempt":1,"recovered":1,"gave_up":3,"retried":4,` +
		`"wilson_low":0.025679624344743555,"lost_ms":867.001,"spark":null}],"warnings":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestWhatCountsInAReport: rehearsals, runs inside others, and runs that look for a failure or
// measure one do not count, the first two are told; a run that was cut counts its middle as failed.
func TestWhatCountsInAReport(t *testing.T) {
	for name, c := range map[string]struct {
		change                         func(*Record)
		runs, rehearsed, nested, tries int
		slept, failedMS                float64
	}{
		"a run":                      {func(*Record) {}, 1, 0, 0, 2, 100, 10},
		"of a retry, outside others": {func(r *Record) { r.Depth = 0 }, 1, 0, 0, 2, 100, 10},
		"inside another":             {func(r *Record) { r.Depth = 2 }, 0, 0, 1, 0, 0, 0},
		"rehearsed":                  {func(r *Record) { r.Rehearsed = true }, 0, 1, 0, 0, 0, 0},
		"rehearsed inside another":   {func(r *Record) { r.Rehearsed, r.Depth = true, 2 }, 0, 1, 0, 0, 0, 0},
		"until a failure":            {func(r *Record) { r.UntilFailure = true }, 0, 0, 0, 0, 0, 0},
		"measured":                   {func(r *Record) { r.Repeat = true }, 0, 0, 0, 0, 0, 0},
		"ahead of the clock":         {func(r *Record) { r.Time.Time = start.Add(time.Hour) }, 1, 0, 0, 2, 100, 10},
		"of no known time":           {func(r *Record) { r.Time.Time = time.Time{} }, 1, 0, 0, 2, 100, 10},
		"cut": {func(r *Record) { r.Cut, r.AttemptCount, r.WaitedMS = true, 7, 550 }, 1, 0, 0,
			7, 550, 10},
		"cut, and waited less":   {func(r *Record) { r.Cut, r.WaitedMS = true, 50 }, 1, 0, 0, 2, 100, 10},
		"with too small a count": {func(r *Record) { r.AttemptCount = 1 }, 1, 0, 0, 2, 100, 10},
		"without an attempt":     {func(r *Record) { r.Attempts, r.AttemptCount = nil, 0 }, 0, 0, 0, 0, 0, 0},
	} {
		run := failing("x", 0, event.Succeeded, c.change)
		r := reportOf(0, "name", run)
		r.Finish(0)
		if r.Runs != c.runs || r.Rehearsed != c.rehearsed || r.Nested != c.nested || r.SleptMS != c.slept ||
			r.FailedMS != c.failedMS {
			t.Errorf("%s: %+v", name, r)
		}
		if want := map[int]int{c.tries: 1}; c.tries > 0 && !reflect.DeepEqual(r.SuccessByAttempt, want) {
			t.Errorf("%s: succeeded by attempt %v", name, r.SuccessByAttempt)
		}
		if r.Since != nil {
			t.Errorf("since %s", *r.Since)
		}
	}
	// Nothing was run, and it was not a success.
	for outcome, want := range map[event.Outcome]int{event.Refused: 1, event.Deadline: 1, event.Cancelled: 1,
		event.Succeeded: 0} {
		r := reportOf(0, "name", failing("x", 0, outcome, func(r *Record) { r.Attempts, r.AttemptCount = nil, 0 }))
		if r.Finish(0); r.Runs != want || r.GaveUp != map[bool]int{true: 1}[outcome == event.Deadline] {
			t.Errorf("%s without an attempt: %d runs, %d gave up", outcome, r.Runs, r.GaveUp)
		}
	}
}

// TestSince: a run at the time itself counts, one before it does not.
func TestSince(t *testing.T) {
	at := func(d time.Duration) func(*Record) { return func(r *Record) { r.Time.Time = start.Add(d) } }
	r := reportOf(time.Hour, "name", failing("x", 0, event.Succeeded, at(-time.Hour)),
		failing("x", 0, event.Stopped, at(-time.Hour-1)),
		failing("x", 0, event.Exhausted, at(0)),
		failing("x", 0, event.Stopped, func(r *Record) { r.Time.Time, r.Rehearsed = start.Add(-2*time.Hour), true }))
	if r.Finish(0); r.Runs != 2 || r.Recovered != 1 || r.GaveUp != 1 || r.Rehearsed != 0 {
		t.Errorf("%+v", r)
	}
}

// TestGroups holds what runs are grouped by, and the order of the groups: what recovers most
// surely, then what gives up most, then the name.
func TestGroups(t *testing.T) {
	of := func(name string, n int, outcome event.Outcome) (all []*Record) {
		for i := range n {
			all = append(all, failing(name, i, outcome, func(r *Record) {
				r.Command, r.Key, r.Policy, r.Commit = []string{"c", name}, "k-"+name, "p-"+name, "v-"+name
			}))
		}
		return all
	}
	var runs []*Record
	for _, some := range [][]*Record{of("b", 2, event.Exhausted), of("a", 2, event.Exhausted),
		of("c", 3, event.Exhausted), of("d", 1, event.Succeeded), of("e", 3, event.Succeeded)} {
		runs = append(runs, some...)
	}
	for by, form := range map[string]string{"name": "%s", "command": "c %s", "key": "k-%s", "policy": "p-%s",
		"commit": "v-%s"} {
		for top, names := range map[int]string{0: "edcab", 1: "e", 3: "edc", 5: "edcab", 6: "edcab"} {
			r := reportOf(0, by, runs...)
			n := r.Finish(top)
			var got, want []string
			for _, g := range r.Groups {
				got = append(got, g.Name)
			}
			for _, name := range names {
				want = append(want, fmt.Sprintf(form, string(name)))
			}
			if n != 5 || !reflect.DeepEqual(got, want) || r.Runs != 11 {
				t.Errorf("by %s, %d: %d groups, %q; want %q", by, top, n, got, want)
			}
		}
	}
}

// TestTooManyGroups: what comes after the first hundred thousand is one group, and teaches nothing.
func TestTooManyGroups(t *testing.T) {
	r, l := NewReport(start, 0, "name"), NewLearner(start)
	for i := range mostGroups - 1 {
		r.groups[fmt.Sprint(i)] = nil // stands for one
		l.lessons[fmt.Sprint(i)] = nil
	}
	add := func(name string) {
		run := failing(name, 0, event.Succeeded, func(r *Record) { r.Attempts[0].FP = name })
		r.Add(run)
		l.Add(run)
	}
	for _, name := range []string{"the last", "too many", "another", "the last"} {
		add(name)
	}
	if r.groups["the last"].Runs != 2 || r.groups[otherGroup].Runs != 2 || len(r.groups) != mostGroups+1 {
		t.Errorf("%d groups, %+v, %+v", len(r.groups), r.groups["the last"], r.groups[otherGroup])
	}
	if len(l.lessons) != mostLessons || l.lessons["the last"].Recovered != 2 {
		t.Errorf("%d lessons, %+v", len(l.lessons), l.lessons["the last"])
	}
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		first, recovered, gaveUp, retried int
		want                              string
	}{
		{9, 1, 9, 9, "flaky"}, {0, 1, 0, 1, "flaky"},
		{0, 0, 1, 1, "broken"}, {0, 0, 1, 0, "broken"},
		{1, 0, 1, 0, "not retried"}, {1, 0, 1, 1, "failing"},
		{1, 0, 0, 0, "steady"}, {0, 0, 0, 0, "steady"}, {0, 0, 0, 1, "steady"},
	} {
		g := &Group{FirstAttempt: c.first, Recovered: c.recovered, GaveUp: c.gaveUp, Retried: c.retried}
		if got := g.class(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestWarnings holds the figure from which on there is one, and the least number of cases.
func TestWarnings(t *testing.T) {
	quick := func(r *Record) { r.Attempts, r.AttemptCount = r.Attempts[1:], 1 }
	slow := func(ms float64) func(*Record) {
		return func(r *Record) { quick(r); r.Attempts[0].SleptMS = new(ms) }
	}
	few := func(n int, outcome event.Outcome, change func(*Record)) []*Record { return many(n, outcome, change) }
	join := func(all ...[]*Record) (runs []*Record) {
		for _, some := range all {
			runs = append(runs, some...)
		}
		return runs
	}
	for name, c := range map[string]struct {
		runs []*Record
		want []Warning
	}{
		"2 of 20 were retried": {join(few(2, event.Succeeded, nil),
			few(18, event.Succeeded, quick)), nil},
		"3 of 20 were retried": {join(few(3, event.Succeeded, nil),
			few(17, event.Succeeded, quick)), []Warning{{"retried", 0.15, 0.1}}},
		"3 of 19 were retried": {join(few(3, event.Succeeded, nil),
			few(16, event.Succeeded, quick)), nil},
		"half of the second attempts succeed": {join(few(10, event.Succeeded, nil), few(10, event.Exhausted, nil),
			few(180, event.Succeeded, quick)), nil},
		"fewer of the second attempts succeed": {join(few(9, event.Succeeded, nil), few(11, event.Exhausted, nil),
			few(180, event.Succeeded, quick)), []Warning{{"second_attempt", 0.45, 0.5}}},
		"fewer of few second attempts succeed": {join(few(0, event.Succeeded, nil), few(19, event.Exhausted, nil),
			few(180, event.Succeeded, quick)), nil},
		"1 of 20 waited for longer than 5 s": {join(few(1, event.Succeeded, slow(5001)),
			few(19, event.Succeeded, quick)), nil},
		"2 of 20 waited for longer than 5 s": {join(few(2, event.Succeeded, slow(5001)),
			few(18, event.Succeeded, quick)), []Warning{{"waits", 0.1, 0.05}}},
		"2 of 20 waited for 5 s": {join(few(2, event.Succeeded, slow(5000)),
			few(18, event.Succeeded, quick)), nil},
		"a second attempt that no failure needs": {few(20, event.Exhausted,
			func(r *Record) { r.Attempts[0].Success = true }), []Warning{{"retried", 1, 0.1}}},
	} {
		r := reportOf(0, "name", c.runs...)
		r.Finish(0)
		if len(r.Warnings) != len(c.want) || len(c.want) > 0 && !reflect.DeepEqual(r.Warnings, c.want) {
			t.Errorf("%s: %+v; want %+v", name, r.Warnings, c.want)
		}
	}
}

// TestSparks: the time from the first run, or from since, until now is in 24 equal parts; each
// has the share of runs with a failed attempt, and none without a run.
func TestSparks(t *testing.T) {
	run := func(before time.Duration, failed bool) *Record {
		return failing("x", 0, event.Succeeded, func(r *Record) {
			if r.Time.Time = start.Add(-before); !failed {
				r.Attempts, r.AttemptCount = r.Attempts[1:], 1
			}
		})
	}
	for name, c := range map[string]struct {
		since time.Duration
		runs  []*Record
		want  map[int]float64
	}{
		"a part of an hour each": {24 * time.Hour,
			[]*Record{run(24*time.Hour, true), run(23*time.Hour, false), run(time.Hour, true), run(0, false)},
			map[int]float64{0: 1, 1: 0, 23: 0.5}},
		"the end of a part": {24 * time.Hour,
			[]*Record{run(23*time.Hour+time.Millisecond, true), run(23*time.Hour, true)}, map[int]float64{0: 1, 1: 1}},
		"from the first run": {0,
			[]*Record{run(24*time.Minute, false), run(23*time.Minute, true), run(12*time.Minute, true),
				run(12*time.Minute, false), run(12*time.Minute, false), run(12*time.Minute, false)},
			map[int]float64{0: 0, 1: 1, 12: 0.25}},
		"the first run is not first": {0, []*Record{run(12*time.Minute, true), run(24*time.Minute, false)},
			map[int]float64{0: 0, 12: 1}},
		"a run of now": {0, []*Record{run(0, true)}, map[int]float64{23: 1}},
		"a run ahead of the clock": {0, []*Record{run(-time.Hour, true), run(24*time.Second, false)},
			map[int]float64{0: 0, 23: 1}},
		"a run of no known time": {0,
			[]*Record{run(24*time.Second, false),
				failing("x", 0, event.Stopped, func(r *Record) { r.Time.Time = time.Time{} })}, map[int]float64{0: 0}},
		"a run of a millisecond ago": {0, []*Record{run(time.Millisecond, true)}, map[int]float64{0: 1}},
	} {
		r := reportOf(c.since, "name", c.runs...)
		r.Finish(0)
		got := map[int]float64{}
		for i, share := range r.Groups[0].Spark {
			if share != nil {
				got[i] = *share
			}
		}
		if !reflect.DeepEqual(got, c.want) || len(r.Groups[0].Spark) != 24 {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
}

// TestLessons holds what is learned, in its order, with the rule that says it.
func TestLessons(t *testing.T) {
	l := NewLearner(start)
	add := func(n int, outcome event.Outcome, fp string, change func(a *Attempt)) {
		for i := range n {
			l.Add(failing("x", i, outcome, func(r *Record) {
				r.RunID = fmt.Sprint(fp, i)
				for k := range r.Attempts {
					if a := &r.Attempts[k]; !a.Success {
						a.FP, a.Reason = fp, "why"
						change(a)
					}
				}
			}))
		}
	}
	code := func(a *Attempt) {}
	add(5, event.Succeeded, "curl 7: refused by <addr> after <n> ms", code)
	add(40, event.Exhausted, "my_tool SIGSEGV", func(a *Attempt) { a.Signal, a.ExitCode = "SIGSEGV", 139 })
	add(5, event.Succeeded, "a timeout: slow", func(a *Attempt) { a.TimedOut = true })
	add(5, event.Succeeded, "b timeout", func(a *Attempt) { a.TimedOut = true })
	add(1, event.Succeeded, "rare 7", code)
	l.Add(failing("x", 0, event.Succeeded, func(r *Record) { r.Attempts[0].FP = "" }))
	var got []string
	for _, lesson := range l.Lessons() {
		got = append(got, fmt.Sprintf("%s|%s|%s|%d|%d|%.3f|%.3f|%s", lesson.FP, lesson.Tool, lesson.Verdict,
			lesson.Recovered, lesson.NotRecovered, lesson.Low, lesson.High, lesson.Rule))
	}
	id := func(fp string) string { return fmt.Sprintf("%08x", uint32(hash(fp))) }
	want := []string{
		"my_tool SIGSEGV|my_tool|permanent|0|40|0.000|0.088|rule learned-my-tool-SIGSEGV-" + id("my_tool SIGSEGV") +
			"\ntools my_tool\nexit SIGSEGV\nverdict permanent\nreason recovered in 0 of 40 runs of this history\n",
		"a timeout: slow|a|transient|5|0|0.566|1.000|rule learned-a-timeout-" + id("a timeout: slow") +
			"\ntools a\nmatch slow\nverdict transient\nreason recovered in 5 of 5 runs of this history\n",
		"b timeout|b|transient|5|0|0.566|1.000|",
		"curl 7: refused by <addr> after <n> ms|curl|transient|5|0|0.566|1.000|rule learned-curl-7-" +
			id("curl 7: refused by <addr> after <n> ms") +
			"\ntools curl\nexit 7\nmatch refused by [^\\s,;\"'()<>]+ after [0-9]+ ms\nverdict transient\nreason " +
			"recovered in 5 of 5 runs of this history\n",
		"rare 7|rare||1|0|0.207|1.000|",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTheLastFailureIsTheRules: the rule that decided is that of the youngest run, whatever the
// order of the lines; of one time, that of the greater id.
func TestTheLastFailureIsTheRules(t *testing.T) {
	run := func(id string, at time.Duration, verdict string) *Record {
		return failing("x", 0, event.Succeeded, func(r *Record) {
			r.RunID, r.Time.Time = id, start.Add(at)
			r.Attempts[0].Verdict, r.Attempts[0].Rule = verdict, "r"
		})
	}
	older := []*Record{run("9", -time.Hour, "permanent"), run("8", -time.Hour, "permanent"),
		run("1", -time.Minute, "permanent")}
	last := run("2", -time.Minute, "transient")
	for at := range len(older) + 1 {
		l := NewLearner(start)
		for i, r := range older {
			if i == at {
				l.Add(last)
			}
			l.Add(r)
		}
		if at == len(older) {
			l.Add(last)
		}
		if got := l.Lessons()[0]; got.Rule != "" || got.Verdict != event.Transient {
			t.Errorf("as number %d: %+v", at, got)
		}
	}
}

// TestIDsOfRules: what a rule's id may not have is a dash, and it is short.
func TestIDsOfRules(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "azAZ09": "azAZ09", "a_b.c/d:e@f[g`h{i": "a-b-c-d-e-f-g-h-i", "ä": "-",
		strings.Repeat("x", 24): strings.Repeat("x", 24), strings.Repeat("y", 25): strings.Repeat("y", 24),
	} {
		if got := idPart(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestTimesOutOfBounds: no sum is infinite, none is negative.
func TestTimesOutOfBounds(t *testing.T) {
	var r Record
	line := `{"v":1,"run_id":"i","outcome":"succeeded","elapsed_ms":-5,"waited_ms":1e300,"attempt_count":-3,` +
		`"attempts":[{"ms":1e16,"jittered_ms":-1,"slept_ms":1e99},{"ms":-0.5},{"ms":7}]}`
	if !Parse([]byte(line), &r) {
		t.Fatal("not read")
	}
	if r.ElapsedMS != 0 || r.WaitedMS != mostMillis || r.AttemptCount != 0 || r.Attempts[0].MS != mostMillis ||
		*r.Attempts[0].JitteredMS != 0 || *r.Attempts[0].SleptMS != mostMillis || r.Attempts[1].MS != 0 ||
		r.Attempts[2].MS != 7 || r.Attempts[2].SleptMS != nil {
		t.Errorf("%+v", r)
	}
	report := reportOf(0, "name", &r, &r)
	if report.Finish(0); math.IsInf(report.FailedMS, 0) || report.SleptMS != 2*mostMillis {
		t.Errorf("%+v", report)
	}
}

func TestFailed(t *testing.T) {
	for want, all := range map[bool][]*Record{
		true: {
			{Outcome: "exhausted"}, {Outcome: "succeeded", Attempts: []Attempt{{}, {Success: true}}},
			{Outcome: "cancelled", Attempts: []Attempt{{Success: true}}},
		},
		false: {{Outcome: "succeeded"}, {Outcome: "succeeded", Attempts: []Attempt{{Success: true}, {Success: true}}}},
	} {
		for _, r := range all {
			if r.Failed() != want {
				t.Errorf("%+v: %v", r, !want)
			}
		}
	}
}
