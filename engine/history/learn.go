package history

// This file learns from runs which failures pass: what became of the runs in which
// a failure of one fingerprint occurred.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/statistics"
	"github.com/retrysh/retry/engine/text"
)

const (
	mostLessons = 100_000 // bounds the memory

	halfLife = 30 * 24 * time.Hour // of an answer's weight

	// Beta percentiles; a verdict needs the lower one above, or the upper one
	// below, a limit.
	lowPercentile, highPercentile = 0.05, 0.95
	transientAbove                = 0.5
	permanentBelow                = 0.1

	// leastSpan is the time from first to last, and leastCommits the number of known
	// commits, that a permanent verdict needs.
	leastSpan    = 3 * 24 * time.Hour
	leastCommits = 2
)

// Learner collects the answers of runs.
type Learner struct {
	now     time.Time
	lessons map[string]*Lesson
	names   map[string]*counts
	hours   map[int64]map[*counts]*counts // by the counts of a name, those of one hour
}

// counts are the runs of a name; in all or in an hour.
type counts struct{ runs, succeeded, gaveUp int }

func (c *counts) add(d *run) {
	c.runs++
	if d.succeeded {
		c.succeeded++
	}
	if d.gaveUp {
		c.gaveUp++
	}
}

// Lesson is what is known of a fingerprint, with the names of --learn in JSON.
type Lesson struct {
	FP      string        `json:"fp"`
	Tool    string        `json:"tool"`
	Verdict event.Verdict `json:"verdict"` // "" for none
	// The plain counts of answers; CommonMode are those that do not count.
	Recovered    int     `json:"recovered"`
	NotRecovered int     `json:"not_recovered"`
	Censored     int     `json:"censored"`
	CommonMode   int     `json:"common_mode"`
	Low          float64 `json:"low"`
	High         float64 `json:"high"`
	Days         int     `json:"days"`
	Commits      int     `json:"commits"`
	// RecoveryP50 and RecoveryP90 are milliseconds from the end of the first such
	// failure to the start of the attempt that succeeded, GivenP50 the same to the
	// end of the runs that did not recover; nil where there was none.
	RecoveryP50 *float64 `json:"recovery_p50_ms"`
	RecoveryP90 *float64 `json:"recovery_p90_ms"`
	GivenP50    *float64 `json:"given_p50_ms"`
	// Rule is a block for a rule file, "" where none is suggested.
	Rule string `json:"rule"`

	line    string
	last    Attempt // the failure that is last by time; records come in no order
	lastAt  time.Time
	lastRun string
	answers []answer
}

// answer is what a run says about a fingerprint.
type answer struct {
	at     int64 // Unix milliseconds
	name   *counts
	commit uint64 // its hash, 0 for none
	kind   answerKind
	ms     float64 // recovery, or how long it was given; NaN where it is not known
}

type answerKind uint8

const (
	recovered answerKind = iota
	notRecovered
	censored
)

// NewLearner returns a learner for answers of up to now.
func NewLearner(now time.Time) *Learner {
	return &Learner{now: now, lessons: map[string]*Lesson{}, names: map[string]*counts{}, hours: map[int64]map[*counts]*counts{}}
}

// Add takes the answers of a run.
func (l *Learner) Add(r *Record) {
	d, counted := digest(r, l.now)
	if !counted {
		return
	}
	name := l.names[r.Name]
	if name == nil {
		name = new(counts)
		l.names[r.Name] = name
	}
	hour := hourOf(d.at.UnixMilli())
	if l.hours[hour] == nil {
		l.hours[hour] = map[*counts]*counts{}
	}
	if l.hours[hour][name] == nil {
		l.hours[hour][name] = new(counts)
	}
	name.add(&d)
	l.hours[hour][name].add(&d)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Success || a.FP == "" || l.lessons[a.FP] == nil && len(l.lessons) >= mostLessons {
			continue
		}
		lesson := l.lessons[a.FP]
		if lesson == nil {
			lesson = &Lesson{FP: a.FP}
			l.lessons[lesson.FP] = lesson
		}
		if lesson.lastRun == "" || cmp.Or(d.at.Compare(lesson.lastAt), strings.Compare(r.RunID, lesson.lastRun)) >= 0 {
			lesson.last, lesson.lastAt, lesson.lastRun = *a, d.at, r.RunID
		}
		if !slices.ContainsFunc(r.Attempts[:i], func(b Attempt) bool { return !b.Success && b.FP == a.FP }) {
			answer := answerOf(r, &d, i)
			answer.name = name
			lesson.answers = append(lesson.answers, answer)
		}
	}
}

func hourOf(ms int64) int64 { return ms / time.Hour.Milliseconds() }

// answerOf is the answer of a run about the failure of attempt i, the first of its
// kind.
func answerOf(r *Record, d *run, i int) answer {
	a := answer{at: d.at.UnixMilli(), kind: censored, ms: math.NaN()}
	if r.Commit != "" {
		a.commit = hash(r.Commit)
	}
	last := len(r.Attempts) - 1
	since := 0.0 // from the end of that failure to the end of the last attempt
	for j := i; j <= last; j++ {
		if j > i {
			since += r.Attempts[j].MS
		}
		if j < last || !d.succeeded {
			since += valueOf(r.Attempts[j].SleptMS)
		}
	}
	switch outcome := event.Outcome(r.Outcome); {
	case d.succeeded:
		a.kind = recovered
		if last > i {
			a.ms = since - r.Attempts[last].MS
		}
	case i < last && (outcome == event.Exhausted || outcome == event.Deadline):
		a.kind, a.ms = notRecovered, since
	}
	if d.attempts > len(r.Attempts) {
		a.ms = math.NaN()
	}
	return a
}

// Lessons are what all runs say, those with the most answers first.
func (l *Learner) Lessons() []*Lesson {
	lessons := make([]*Lesson, 0, len(l.lessons))
	for _, lesson := range l.lessons {
		lesson.Tool, lesson.line = lesson.last.toolAndLine()
		l.weigh(lesson)
		if lesson.Verdict != "" && (lesson.last.Rule == "" || lesson.last.Verdict != string(lesson.Verdict)) {
			lesson.Rule = lesson.rule() // else the rule that decided says the same already
		}
		lessons = append(lessons, lesson)
	}
	slices.SortFunc(lessons, func(a, b *Lesson) int {
		return cmp.Or(cmp.Compare(b.total(), a.total()), cmp.Compare(a.FP, b.FP))
	})
	return lessons
}

func (l *Lesson) total() int { return l.Recovered + l.NotRecovered + l.Censored + l.CommonMode }

// inCommonMode reports whether most of the other names that mostly succeed failed in the
// hour of an answer: the cause was outside the command.
func (l *Learner) inCommonMode(a *answer) bool {
	others, failed := 0, 0
	for name, hour := range l.hours[hourOf(a.at)] {
		if name == a.name || 2*name.succeeded <= name.runs {
			continue
		}
		others++
		if 2*hour.gaveUp > hour.runs {
			failed++
		}
	}
	const leastOthers = 2
	return others >= leastOthers && 2*failed > others
}

// weigh counts the answers, each by its age.
func (l *Learner) weigh(lesson *Lesson) {
	var weights [2]float64
	var times [2][]float64
	commits := map[uint64]bool{}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range lesson.answers {
		a := &lesson.answers[i]
		if l.inCommonMode(a) {
			lesson.CommonMode++
			continue
		}
		first, last = min(first, a.at), max(last, a.at)
		if a.commit != 0 {
			commits[a.commit] = true
		}
		if a.kind == censored {
			lesson.Censored++
			continue
		}
		age := float64(l.now.UnixMilli()-a.at) / float64(halfLife.Milliseconds())
		weights[a.kind] += math.Exp2(-age)
		if !math.IsNaN(a.ms) {
			times[a.kind] = append(times[a.kind], a.ms)
		}
		if a.kind == recovered {
			lesson.Recovered++
		} else {
			lesson.NotRecovered++
		}
	}
	lesson.Low = statistics.BetaQuantile(lowPercentile, 1+weights[recovered], 1+weights[notRecovered])
	lesson.High = statistics.BetaQuantile(highPercentile, 1+weights[recovered], 1+weights[notRecovered])
	lesson.Commits = len(commits)
	if last > first {
		lesson.Days = int((last - first) / (24 * time.Hour).Milliseconds())
	}
	lesson.RecoveryP50, lesson.RecoveryP90 = quantile(times[recovered], 0.5), quantile(times[recovered], 0.9)
	lesson.GivenP50 = quantile(times[notRecovered], 0.5)
	lesson.answers = nil
	switch {
	case lesson.Low > transientAbove:
		lesson.Verdict = event.Transient
	case lesson.High < permanentBelow && last-first >= leastSpan.Milliseconds() && (len(commits) == 0 || len(commits) >= leastCommits):
		lesson.Verdict = event.Permanent
	}
}

// quantile sorts values, and returns nil where there are none.
func quantile(values []float64, p float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	v := statistics.Quantile(values, p)
	return &v
}

// rule is the block of a lesson, "" where a rule file cannot say it.
func (l *Lesson) rule() string {
	tool, line := text.OneLine(l.Tool), text.OneLine(l.line)
	if strings.ContainsAny(tool, " ") || l.last.TimedOut && line == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rule learned-%s-%s-%08x\n", idPart(tool), idPart(l.last.result()), uint32(hash(l.FP)))
	if tool != "" {
		fmt.Fprintf(&b, "tools %s\n", tool)
	}
	if !l.last.TimedOut {
		fmt.Fprintf(&b, "exit %s\n", l.last.result())
	}
	if line != "" {
		fmt.Fprintf(&b, "match %s\n", patternFor(line))
	}
	fmt.Fprintf(&b, "verdict %s\nreason recovered in %d of %d runs of this history\n", l.Verdict, l.Recovered, l.Recovered+l.NotRecovered)
	return b.String()
}

// idPart is a text of the letters, digits and dashes that a rule's id may have.
func idPart(s string) string {
	const longest = 24
	id := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, s)
	return id[:min(len(id), longest)]
}
