package report

// This file is --last: the last run that failed, for a person.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Last is --last.
type Last struct{ Flags }

// NewLast returns --last with its defaults.
func NewLast() *Last { return &Last{Flags{Common: mode.Defaults()}} }

// Run shows the last run that failed.
func (g *Last) Run() int {
	if len(g.Words) > 1 {
		return g.Usage(errors.New("unexpected argument " + g.Words[1]))
	}
	name := strings.Join(g.Words, "")
	if err := g.find(nil); err != nil {
		return g.Fail(err)
	}
	kept := text.Masked(name) // as the history has it
	var line []byte
	bad, err := history.Read(g.sources, func(r *history.Record, text []byte) {
		if (name == "" || r.Name == kept) && r.Failed() {
			line = slices.Clone(text)
		}
	})
	if err != nil {
		return g.Fail(err)
	}
	g.badLines(bad)
	switch {
	case line == nil && name == "":
		return g.none("no run has failed")
	case line == nil:
		return g.none(fmt.Sprintf("no run of the name %q has failed", message.Printable(name)))
	case g.JSON():
		g.Print(string(line) + "\n")
	default:
		var r history.Record
		history.Parse(line, &r)
		g.Print(explain(&r, now()))
	}
	return exitcodes.OK
}

// explain shows a run in one screen. Its lines are not cut: the reasons stand at
// their ends.
func explain(r *history.Record, now time.Time) string {
	when := ""
	if !r.Time.IsZero() {
		when = r.Time.Local().Format("2006-01-02 15:04:05 MST") + ", " +
			message.Duration(max(0, now.Sub(r.Time.Time)).Round(time.Second)) + " ago; it took " +
			message.Duration(milliseconds(r.ElapsedMS))
	}
	text := mode.Table(0, mode.Pairs(
		"run", headline(r), "command", strings.Join(r.Command, " "), "when", when,
		"where", strings.TrimPrefix(strings.Join([]string{r.Cwd, r.Host}, " on "), " on "),
		"policy", r.Policy, "key", r.Key, "commit", r.Commit, "ci", r.CI, "run id", r.RunID,
		"inside run", r.ParentRunID, "note", notes(r)))
	if len(r.Attempts) > 0 {
		text += "\n" + mode.Table(0, attempts(r))
	}
	return text
}

// headline says what came of the run.
func headline(r *history.Record) string {
	code := fmt.Sprintf(" with exit code %d", r.ExitCode)
	did, why := "ended as "+r.Outcome, ""
	switch event.Outcome(r.Outcome) {
	case event.Succeeded:
		did, code = "succeeded", ""
	case event.Exhausted:
		did, why = "gave up", ": no attempt was left"
	case event.Stopped:
		did, why = "stopped", ": the failure was not worth a retry"
	case event.Deadline:
		did, why = "gave up", ": no time was left"
	}
	return r.Name + " " + did + " after " + message.Attempts(max(r.AttemptCount, len(r.Attempts))) + code + why
}

// notes are what else a reader has to know of the run.
func notes(r *history.Record) string {
	var all []string
	for _, n := range []struct {
		is   bool
		text string
	}{
		{r.Rehearsed, "rehearsed: its failures were pretended"},
		{r.UntilFailure, "ran until a failure"},
		{r.Repeat, "repeated to count failures"},
		{r.Redriven, "run again from its letter"}, {r.Cut, "not all was kept"},
	} {
		if n.is {
			all = append(all, n.text)
		}
	}
	return strings.Join(all, "; ")
}

// mostShown is how many attempts fit one screen; the first and the last half of
// them are shown.
const mostShown = 16

// attempts is a table of the attempts.
func attempts(r *history.Record) [][]string {
	rows := [][]string{{"ATTEMPT", "END", "TOOK", "THEN WAITED", "VERDICT", "WHY"}}
	missing := max(0, r.AttemptCount-len(r.Attempts)) // those in the middle were not kept
	for i := range r.Attempts {
		number := i + 1
		if i >= len(r.Attempts)/2 {
			number += missing
		}
		a := &r.Attempts[i]
		end := "success"
		if !a.Success {
			end = ended(a)
		}
		wait := "-"
		if a.SleptMS != nil {
			wait = message.Duration(milliseconds(*a.SleptMS))
		}
		why := a.Reason
		if a.Rule != "" {
			why += " [" + a.Rule + "]"
		}
		rows = append(rows, []string{
			fmt.Sprint(number), end, message.Duration(milliseconds(a.MS)), wait, cmp.Or(a.Verdict, "-"), why,
		})
	}
	if n := len(r.Attempts) - mostShown; n > 0 {
		more := []string{"...", fmt.Sprintf("%d more", n+missing)}
		rows = slices.Replace(rows, 1+mostShown/2, 1+mostShown/2+n, more)
	}
	return rows
}

// ended says how an attempt failed.
func ended(a *history.Attempt) string {
	switch {
	case a.TimedOut:
		return "timeout"
	case a.Signal != "":
		return a.Signal
	}
	return fmt.Sprintf("exit %d", a.ExitCode)
}
