package history

// This file computes the report: how runs ended, by group, and what that cost.

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/statistics"
)

// sparkParts is how many equal parts of the time a spark line has.
const sparkParts = 24

// The classes of a group, in the order in which they are tried.
const (
	Flaky      = "flaky"
	Broken     = "broken"
	NotRetried = "not retried"
	Failing    = "failing"
	Steady     = "steady"
)

// Report counts runs. Its exported fields are the result when Finish has returned.
type Report struct {
	Counts
	Since                         time.Time // zero: all
	Succeeded, Cancelled, Refused int
	Rehearsed, Nested             int
	SuccessByAttempt              map[int]int
	FailedMS, JitteredMS, SleptMS float64
	Groups                        []*Group
	Warnings                      []Warning

	now              time.Time
	groupOf          func(*Record) string
	groups           map[string]*Group
	first            time.Time // of the counted runs
	second, secondOK int       // attempts 2 after a failure, and their successes
	waitedLong       int
}

// Counts are those that the whole and each group have.
type Counts struct {
	Runs         int `json:"runs"`
	FirstAttempt int `json:"first_attempt"`
	Recovered    int `json:"recovered"`
	GaveUp       int `json:"gave_up"`
	Retried      int `json:"retried"`
}

// Group is the runs that have the same name, or the like, with the names of --report
// in JSON.
type Group struct {
	Name  string `json:"group"`
	Class string `json:"class"`
	Counts
	WilsonLow float64 `json:"wilson_low"` // lower end of the interval of recovered / runs
	LostMS    float64 `json:"lost_ms"`    // failed attempts and waits
	// Spark is the share of runs with a failed attempt in each part of the time; nil
	// where there was no run.
	Spark []*float64 `json:"spark"`

	succeeded int
	moments   []int64 // of runs: twice the Unix milliseconds, and 1 where an attempt failed
}

// Warning is a figure that is beyond a limit.
type Warning struct {
	Kind  string  `json:"kind"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
}

// GroupBy returns what groups runs by name, command, key, policy or commit.
func GroupBy(what string) func(*Record) string {
	return func(r *Record) string {
		switch what {
		case "command":
			return strings.Join(r.Command, " ")
		case "key":
			return r.Key
		case "policy":
			return r.Policy
		case "commit":
			return r.Commit
		}
		return r.Name
	}
}

// NewReport counts the runs of the time since then until now, all where since is
// 0.
func NewReport(now time.Time, since time.Duration, groupOf func(*Record) string) *Report {
	r := &Report{now: now, groupOf: groupOf, groups: map[string]*Group{}, SuccessByAttempt: map[int]int{}}
	if since > 0 {
		r.Since = now.Add(-since)
	}
	return r
}

// run is what the statistics know of a run.
type run struct {
	at                        time.Time // not ahead
	failed                    int       // attempts
	attempts                  int
	failedMS, jittered, slept float64
	succeeded, gaveUp         bool
}

// digest returns what counts of a run, and whether it does: rehearsals, runs inside
// others, and those with --until-failure or --repeat do not.
func digest(r *Record, now time.Time) (run, bool) {
	d := run{at: r.Time, attempts: max(r.AttemptCount, len(r.Attempts)), succeeded: r.Outcome == string(event.Succeeded)}
	if d.at.After(now) {
		d.at = now
	}
	switch event.Outcome(r.Outcome) {
	case event.Exhausted, event.Stopped, event.Deadline, event.Failed:
		d.gaveUp = true
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if !a.Success {
			d.failed++
			d.failedMS += a.MS
		}
		d.jittered += a.JitteredMS
		d.slept += a.SleptMS
	}
	if r.Cut {
		d.failed += d.attempts - len(r.Attempts) // those in the middle, taken for failures
		d.slept = max(d.slept, r.WaitedMS)
	}
	return d, !r.Rehearsed && r.Depth <= 1 && !r.UntilFailure && !r.Repeat && (d.attempts > 0 || !d.succeeded)
}

// Add counts a run.
func (r *Report) Add(record *Record) {
	d, counts := digest(record, r.now)
	if d.at.Before(r.Since) {
		return
	}
	switch {
	case record.Rehearsed:
		r.Rehearsed++
	case record.Depth > 1:
		r.Nested++
	}
	if !counts {
		return
	}
	name := r.groupOf(record)
	if r.groups[name] == nil && len(r.groups) >= mostGroups {
		name = otherGroup
	}
	g := r.groups[name]
	if g == nil {
		g = &Group{Name: strings.Clone(name)}
		r.groups[name] = g
	}
	r.count(&d)
	g.count(&d)
	r.whole(record, &d)
	g.LostMS += d.failedMS + d.slept
	if d.succeeded {
		g.succeeded++
	}
	if d.at.IsZero() {
		return // no time is known
	}
	if r.first.IsZero() || d.at.Before(r.first) {
		r.first = d.at
	}
	moment := d.at.UnixMilli() * 2
	if d.failed > 0 {
		moment++
	}
	g.moments = append(g.moments, moment)
}

func (c *Counts) count(d *run) {
	c.Runs++
	switch {
	case d.succeeded && d.failed == 0:
		c.FirstAttempt++
	case d.succeeded:
		c.Recovered++
	case d.gaveUp:
		c.GaveUp++
	}
	if d.failed > 0 && d.attempts > 1 {
		c.Retried++
	}
}

// whole counts what the groups do not have.
func (r *Report) whole(record *Record, d *run) {
	switch event.Outcome(record.Outcome) {
	case event.Succeeded:
		r.Succeeded++
		r.SuccessByAttempt[d.failed+1]++
	case event.Cancelled:
		r.Cancelled++
	case event.Refused:
		r.Refused++
	}
	r.FailedMS += d.failedMS
	r.JitteredMS += d.jittered
	r.SleptMS += d.slept
	if a := record.Attempts; len(a) > 1 && !a[0].Success {
		r.second++
		if a[1].Success {
			r.secondOK++
		}
	}
	const long = 5000 // ms
	if d.slept > long {
		r.waitedLong++
	}
}

// mostGroups bounds the memory; runs of later groups are counted as otherGroup.
const (
	mostGroups = 100_000
	otherGroup = "_other"
)

// Finish computes what needs all runs. It keeps the first groups, all where top is
// 0, and returns how many there are.
func (r *Report) Finish(top int) (groups int) {
	start := r.Since
	if start.IsZero() {
		start = r.first
	}
	r.FailedMS, r.JitteredMS, r.SleptMS = rounded(r.FailedMS), rounded(r.JitteredMS), rounded(r.SleptMS)
	r.Groups, r.Warnings = []*Group{}, []Warning{}
	for _, g := range r.groups {
		g.LostMS = rounded(g.LostMS)
		g.WilsonLow, _ = statistics.Wilson(g.Recovered, g.Runs)
		g.Class = g.class()
		r.Groups = append(r.Groups, g)
	}
	slices.SortFunc(r.Groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.WilsonLow, a.WilsonLow), cmp.Compare(b.GaveUp, a.GaveUp), cmp.Compare(a.Name, b.Name))
	})
	if groups = len(r.Groups); top > 0 {
		r.Groups = r.Groups[:min(top, groups)]
	}
	for _, g := range r.Groups {
		g.drawSpark(start.UnixMilli(), r.now.UnixMilli())
	}
	const (
		leastCases                   = 20
		retried, secondOK, waitsLong = 0.1, 0.5, 0.05
	)
	warn := func(kind string, hits, cases int, limit, sign float64) {
		if value := float64(hits) / float64(cases); cases >= leastCases && (value-limit)*sign > 0 {
			r.Warnings = append(r.Warnings, Warning{kind, value, limit})
		}
	}
	warn("retried", r.Retried, r.Runs, retried, 1)
	warn("second_attempt", r.secondOK, r.second, secondOK, -1)
	warn("waits", r.waitedLong, r.Runs, waitsLong, 1)
	return groups
}

// rounded keeps three decimals: sums of numbers that have no more.
func rounded(ms float64) float64 { return math.Round(ms*1000) / 1000 }

func (g *Group) class() string {
	switch {
	case g.Recovered > 0:
		return Flaky
	case g.succeeded == 0 && g.GaveUp > 0:
		return Broken
	case g.GaveUp > 0 && g.Retried == 0:
		return NotRetried
	case g.GaveUp > 0:
		return Failing
	}
	return Steady
}

// drawSpark computes the shares of the parts of the time from start to now.
func (g *Group) drawSpark(start, now int64) {
	var runs, failed [sparkParts]int
	g.Spark = make([]*float64, sparkParts)
	for _, moment := range g.moments {
		part := sparkParts - 1
		if at := moment >> 1; now > start {
			part = min(max(int((at-start)*sparkParts/(now-start)), 0), part)
		}
		runs[part]++
		failed[part] += int(moment & 1)
	}
	for i := range g.Spark {
		if runs[i] > 0 {
			g.Spark[i] = new(float64(failed[i]) / float64(runs[i]))
		}
	}
	g.moments = nil
}
