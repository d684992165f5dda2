package status

// This file shows runs to a person.

import (
	"fmt"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/engine/text"
)

// rows is the table of runs, a line each.
func rows(runs []*registry.Entry, now time.Time) [][]string {
	table := [][]string{{"ID", "NAME", "STATUS", "ATTEMPT", "NEXT IN", "SINCE", "LAST FAILURE"}}
	for _, e := range runs {
		table = append(table, []string{
			e.RunID[:shortID], e.Name, string(e.Status), position(e.Attempt, e.MaxAttempts), next(e, now), clock(e.StartedAt, now), orEmpty(e.LastReason),
		})
	}
	return table
}

// position says which attempt it is, and of how many where they are limited.
func position(attempt, most int) string {
	if most == 0 {
		return fmt.Sprint(attempt)
	}
	return fmt.Sprintf("%d of %d", attempt, most)
}

// next says when the next attempt starts, where that is known.
func next(e *registry.Entry, now time.Time) string {
	if e.NextAttemptAt == nil {
		return "-"
	}
	left := e.NextAttemptAt.Sub(now)
	return (max(left, 0) + time.Second - 1).Truncate(time.Second).String()
}

// clock is a time of today, or a date and a time.
func clock(t *text.Time, now time.Time) string {
	switch {
	case t == nil:
		return "-"
	case t.Local().Format(time.DateOnly) == now.Local().Format(time.DateOnly):
		return t.Local().Format(time.TimeOnly)
	}
	return t.Local().Format(time.DateTime)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// details is all of one run.
func details(e *registry.Entry, now time.Time) [][]string {
	table := [][]string{{"run id", e.RunID}}
	row := func(name, value string) {
		if value != "" {
			table = append(table, []string{name, value})
		}
	}
	at := func(name string, t *text.Time) {
		if t != nil {
			row(name, clock(t, now))
		}
	}
	if e.Unreadable {
		row("record", "cannot be read: it is damaged, or of another version of this program")
	}
	if err := e.Unreachable(); e.Lives() && err != nil {
		row("signals", err.Error())
	}
	row("pid", fmt.Sprint(e.PID))
	row("command", strings.Join(e.Command, " "))
	row("directory", e.Cwd)
	row("host", e.Host)
	at("deadline", e.DeadlineAt)
	at("next attempt", e.NextAttemptAt)
	if e.LastExit != nil {
		row("last exit", fmt.Sprint(*e.LastExit))
	}
	row("verdict", orEmpty(e.Verdict))
	row("rule", orEmpty(e.Rule))
	row("key", e.Key)
	row("policy", e.Policy)
	if e.Depth > 1 {
		row("depth", fmt.Sprint(e.Depth))
	}
	for i := range e.Attempts {
		a := &e.Attempts[i]
		value := "since " + clock(a.StartedAt, now)
		if a.EndedAt != nil && a.StartedAt != nil {
			value = fmt.Sprintf("%s, %s: %s", clock(a.StartedAt, now), a.EndedAt.Sub(a.StartedAt.Time).Round(time.Millisecond), orEmpty(a.Reason))
		}
		row(fmt.Sprintf("attempt %d", a.Attempt), value)
	}
	return table
}
