package status

// This file shows runs to a person.

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/engine/text"
)

func rows(runs []*registry.Entry, now time.Time) [][]string {
	table := [][]string{{"ID", "NAME", "STATUS", "ATTEMPT", "NEXT IN", "SINCE", "LAST FAILURE"}}
	for _, e := range runs {
		table = append(table, []string{
			e.RunID[:shortID], e.Name, string(e.Status), position(e.Attempt, e.MaxAttempts), next(e, now), cmp.Or(clock(e.StartedAt, now), "-"), show(e.LastReason),
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

// clock is a time of today, or a date and a time, "" for nil.
func clock(t *text.Time, now time.Time) string {
	switch {
	case t == nil:
		return ""
	case t.Local().Format(time.DateOnly) == now.Local().Format(time.DateOnly):
		return t.Local().Format(time.TimeOnly)
	}
	return t.Local().Format(time.DateTime)
}

// show is a value, "" for nil.
func show[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}

func details(e *registry.Entry, now time.Time) [][]string {
	record, signals, depth := "", "", ""
	if e.Unreadable {
		record = "cannot be read: it is damaged, or of another version of this program"
	}
	if err := e.Unreachable(); e.Lives() && err != nil {
		signals = err.Error()
	}
	if e.Depth > 1 {
		depth = fmt.Sprint(e.Depth)
	}
	cells := []string{
		"run id", e.RunID, "record", record, "signals", signals, "pid", fmt.Sprint(e.PID), "command", strings.Join(e.Command, " "),
		"directory", e.Cwd, "host", e.Host, "deadline", clock(e.DeadlineAt, now), "next attempt", clock(e.NextAttemptAt, now),
		"last exit", show(e.LastExit), "verdict", show(e.Verdict), "rule", show(e.Rule), "key", e.Key, "policy", e.Policy, "depth", depth,
	}
	for i := range e.Attempts {
		a := &e.Attempts[i]
		value := clock(a.StartedAt, now)
		if a.EndedAt != nil && a.StartedAt != nil {
			value += fmt.Sprintf(", %s: %s", a.EndedAt.Sub(a.StartedAt.Time).Round(time.Millisecond), show(a.Reason))
		} else {
			value = "since " + value
		}
		cells = append(cells, fmt.Sprintf("attempt %d", a.Attempt), value)
	}
	return mode.Pairs(cells...)
}
