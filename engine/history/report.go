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
	"github.com/retrysh/retry/engine/text"
)

// sparkParts is how many equal parts of the time a spark line has.
const sparkParts = 24

// Report counts runs. Its exported fields are the result when Finish has returned, with
// the names of --report in JSON.
type Report struct {
	Since            *string     `json:"since"` // nil: all
	Runs             int         `json:"runs"`
	Succeeded        int         `json:"succeeded"`
	FirstAttempt     int         `json:"first_attempt"`
	Recovered        int         `json:"recovered"`
	Retried          int         `json:"retried"`
	GaveUp           int         `json:"gave_up"`
	Cancelled        int         `json:"cancelled"`
	Refused          int         `json:"refused"`
	Rehearsed        int         `json:"rehearsed"`
	Nested           int         `json:"nested"`
	SuccessByAttempt map[int]int `json:"success_by_attempt"`
	FailedMS         float64     `json:"failed_ms"`
	JitteredMS       float64     `json:"jittered_ms"`
	SleptMS          float64     `json:"slept_ms"`
	BadLines         int         `json:"bad_lines"` // set by the caller
	Groups           []*Group    `json:"groups"`
	Warnings         []Warning   `json:"warnings"`

	now, since       time.Time
	by               string
	groups           map[string]*Group
	first            time.Time // of the counted runs
	second, secondOK int       // attempts 2 after a failure, and their successes
	waitedLong       int
}

// Group is the runs that have the same name, or the like.
type Group struct {
	Name         string  `json:"group"`
	Class        string  `json:"class"`
	Runs         int     `json:"runs"`
	FirstAttempt int     `json:"first_attempt"`
	Recovered    int     `json:"recovered"`
	GaveUp       int     `json:"gave_up"`
	Retried      int     `json:"retried"`
	WilsonLow    float64 `json:"wilson_low"` // lower end of the interval of recovered / runs
	LostMS       float64 `json:"lost_ms"`    // failed attempts and waits
	// Spark is the share of runs with a failed attempt in each part of the time; nil
	// if there was no run.
	Spark []*float64 `json:"spark"`

	moments []moment // of the runs whose time is known
}

// moment is what the spark line needs of a run.
type moment struct {
	at     int64 // Unix milliseconds
	failed bool  // an attempt did
}

// Warning is a figure that is beyond a limit.
type Warning struct {
	Kind  string  `json:"kind"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
}

// NewReport counts the runs of the time since then until now, all if since is 0, by
// name, command, key, policy or commit.
func NewReport(now time.Time, since time.Duration, by string) *Report {
	r := &Report{now: now, by: by, groups: map[string]*Group{}, SuccessByAttempt: map[int]int{}}
	if since > 0 {
		r.since = now.Add(-since)
		r.Since = new(r.since.UTC().Format(text.Timestamp))
	}
	return r
}

// group returns the group of a run.
func (r *Report) group(record *Record) *Group {
	name := record.Name
	switch r.by {
	case "command":
		name = strings.Join(record.Command, " ")
	case "key":
		name = record.Key
	case "policy":
		name = record.Policy
	case "commit":
		name = record.Commit
	}
	if r.groups[name] == nil && len(r.groups) >= mostGroups {
		name = otherGroup
	}
	g := r.groups[name]
	if g == nil {
		g = &Group{Name: name}
		r.groups[g.Name] = g
	}
	return g
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
	d := run{
		at: r.Time.Time, attempts: max(r.AttemptCount, len(r.Attempts)),
		succeeded: r.Outcome == string(event.Succeeded),
	}
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
		d.jittered += valueOf(a.JitteredMS)
		d.slept += valueOf(a.SleptMS)
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
	if d.at.Before(r.since) {
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
	r.count(record, &d)
	g := r.group(record)
	g.count(&d)
	if d.at.IsZero() {
		return // no time is known
	}
	if r.first.IsZero() || d.at.Before(r.first) {
		r.first = d.at
	}
	g.moments = append(g.moments, moment{at: d.at.UnixMilli(), failed: d.failed > 0})
}

func (g *Group) count(d *run) {
	g.Runs++
	switch {
	case d.succeeded && d.failed == 0:
		g.FirstAttempt++
	case d.succeeded:
		g.Recovered++
	case d.gaveUp:
		g.GaveUp++
	}
	if d.failed > 0 && d.attempts > 1 {
		g.Retried++
	}
	g.LostMS += d.failedMS + d.slept
}

// count counts what is not the sum of the groups.
func (r *Report) count(record *Record, d *run) {
	switch event.Outcome(record.Outcome) {
	case event.Succeeded:
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

// Finish computes what needs all runs. It keeps the first groups, all if top is
// 0, and returns how many there are.
func (r *Report) Finish(top int) (groups int) {
	start := r.since
	if start.IsZero() {
		start = r.first
	}
	r.FailedMS = rounded(r.FailedMS)
	r.JitteredMS = rounded(r.JitteredMS)
	r.SleptMS = rounded(r.SleptMS)
	r.Groups = []*Group{}
	r.Warnings = []Warning{}
	for _, g := range r.groups {
		g.LostMS = rounded(g.LostMS)
		g.WilsonLow, _ = statistics.Wilson(g.Recovered, g.Runs)
		g.Class = g.class()
		r.Groups = append(r.Groups, g)
		r.Runs += g.Runs
		r.FirstAttempt += g.FirstAttempt
		r.Recovered += g.Recovered
		r.Retried += g.Retried
		r.GaveUp += g.GaveUp
	}
	r.Succeeded = r.FirstAttempt + r.Recovered
	slices.SortFunc(r.Groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.WilsonLow, a.WilsonLow), cmp.Compare(b.GaveUp, a.GaveUp),
			cmp.Compare(a.Name, b.Name))
	})
	groups = len(r.Groups)
	if top > 0 {
		r.Groups = r.Groups[:min(top, groups)]
	}
	for _, g := range r.Groups {
		g.drawSpark(start.UnixMilli(), r.now.UnixMilli())
	}
	r.warn()
	return groups
}

// warn adds the warnings: a share of the cases, of which there are enough, is above or
// below its limit.
func (r *Report) warn() {
	const (
		leastCases = 20
		retried    = 0.1
		secondOK   = 0.5
		waitsLong  = 0.05
	)
	above := func(value, limit float64) bool { return value > limit }
	below := func(value, limit float64) bool { return value < limit }
	check := func(kind string, hits, cases int, isBad func(value, limit float64) bool, limit float64) {
		value := float64(hits) / float64(cases)
		if cases >= leastCases && isBad(value, limit) {
			r.Warnings = append(r.Warnings, Warning{kind, value, limit})
		}
	}
	check("retried", r.Retried, r.Runs, above, retried)
	check("second_attempt", r.secondOK, r.second, below, secondOK)
	check("waits", r.waitedLong, r.Runs, above, waitsLong)
}

// rounded keeps three decimals: sums of numbers that have no more.
func rounded(ms float64) float64 { return math.Round(ms*1000) / 1000 }

// Two of the classes of a group.
const (
	Flaky  = "flaky"
	Steady = "steady"
)

// class is the first that holds.
func (g *Group) class() string {
	switch {
	case g.Recovered > 0:
		return Flaky
	case g.FirstAttempt == 0 && g.GaveUp > 0:
		return "broken"
	case g.GaveUp > 0 && g.Retried == 0:
		return "not retried"
	case g.GaveUp > 0:
		return "failing"
	}
	return Steady
}

// drawSpark computes the shares of the parts of the time from start to now.
func (g *Group) drawSpark(start, now int64) {
	var runs, failed [sparkParts]int
	g.Spark = make([]*float64, sparkParts)
	for _, m := range g.moments {
		part := sparkParts - 1
		if now > start {
			part = min(max(int((m.at-start)*sparkParts/(now-start)), 0), part)
		}
		runs[part]++
		if m.failed {
			failed[part]++
		}
	}
	for i := range g.Spark {
		if runs[i] > 0 {
			g.Spark[i] = new(float64(failed[i]) / float64(runs[i]))
		}
	}
	g.moments = nil
}
