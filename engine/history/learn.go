package history

// This file learns from runs which failures pass: what became of the runs in which
// a failure of one fingerprint occurred.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/statistics"
	"github.com/retrysh/retry/engine/text"
)

// mostLessons bounds the memory.
const mostLessons = 100_000

// A verdict needs Wilson's interval of the share of runs that recovered above, or below,
// a limit.
const (
	transientAbove = 0.5
	permanentBelow = 0.1
)

// Learner counts for each fingerprint what became of the runs.
type Learner struct {
	now     time.Time
	lessons map[string]*Lesson
}

// Lesson is what is known of a fingerprint, with the names of --learn in JSON.
type Lesson struct {
	FP           string        `json:"fp"`
	Tool         string        `json:"tool"`
	Verdict      event.Verdict `json:"verdict"` // "" for none
	Recovered    int           `json:"recovered"`
	NotRecovered int           `json:"not_recovered"`
	// Low and High are Wilson's 95 % interval of the share of runs that recovered.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Rule is a block for a rule file, "" if none is suggested.
	Rule string `json:"rule"`

	line    string
	last    Attempt // the failure that is last by time; records come in no order
	lastAt  time.Time
	lastRun string
}

// NewLearner returns a learner for runs of up to now.
func NewLearner(now time.Time) *Learner {
	return &Learner{now: now, lessons: map[string]*Lesson{}}
}

// Add counts a run once for each fingerprint of its failures.
func (l *Learner) Add(r *Record) {
	d, counted := digest(r, l.now)
	if !counted {
		return
	}
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
			lesson.last = *a
			lesson.lastAt = d.at
			lesson.lastRun = r.RunID
		}
		if !slices.ContainsFunc(r.Attempts[:i], func(b Attempt) bool { return !b.Success && b.FP == a.FP }) {
			lesson.count(r, i < len(r.Attempts)-1)
		}
	}
}

// count counts a run with such a failure; followed says that an attempt came after it. A run
// that was stopped, cancelled or refused says nothing.
func (l *Lesson) count(r *Record, followed bool) {
	switch event.Outcome(r.Outcome) {
	case event.Succeeded:
		l.Recovered++
	case event.Exhausted, event.Deadline:
		if followed {
			l.NotRecovered++
		}
	}
}

// Lessons are what all runs say, those with the most runs first.
func (l *Learner) Lessons() []*Lesson {
	lessons := make([]*Lesson, 0, len(l.lessons))
	for _, lesson := range l.lessons {
		lesson.judge()
		lessons = append(lessons, lesson)
	}
	slices.SortFunc(lessons, func(a, b *Lesson) int {
		return cmp.Or(cmp.Compare(b.runs(), a.runs()), cmp.Compare(a.FP, b.FP))
	})
	return lessons
}

func (l *Lesson) runs() int { return l.Recovered + l.NotRecovered }

// judge sets the verdict, and suggests a rule unless the rule that decided says it already.
func (l *Lesson) judge() {
	l.Tool, l.line = l.last.toolAndLine()
	l.Low, l.High = statistics.Wilson(l.Recovered, l.runs())
	switch {
	case l.Low > transientAbove:
		l.Verdict = event.Transient
	case l.High < permanentBelow:
		l.Verdict = event.Permanent
	default:
		return
	}
	if l.last.Rule == "" || l.last.Verdict != string(l.Verdict) {
		l.Rule = l.rule()
	}
}

// rule is the block of a lesson, "" if a rule file cannot say it.
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
	fmt.Fprintf(&b, "verdict %s\nreason recovered in %d of %d runs of this history\n", l.Verdict, l.Recovered, l.runs())
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
