// Package message puts what happens in a run into words, for people and for the logs of CI
// systems alike.
//
// Every function is pure: an event in, a text without line breaks of its own out. What
// comes from outside (a reason may quote the command's output) is passed on as it is; who
// writes it makes it printable.
package message

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
)

// Position says which attempt, of how many.
func Position(h *event.Header) string {
	if h.MaxAttempts == 0 {
		return fmt.Sprint(h.Attempt)
	}
	return fmt.Sprintf("%d of %d", h.Attempt, h.MaxAttempts)
}

// Attempts says how many there were.
func Attempts(n int) string { return text.Count(n, "attempt", "attempts") }

// Duration rounds to what a person reads: three digits or so.
func Duration(d time.Duration) string {
	unit := time.Microsecond
	switch {
	case d >= time.Minute:
		unit = time.Second
	case d >= time.Second:
		unit = 10 * time.Millisecond
	case d >= time.Millisecond:
		unit = time.Millisecond
	}
	return d.Round(unit).String()
}

// Limit writes a limit as its user would: 10m and not 10m0s.
func Limit(d time.Duration) string {
	text := d.String()
	if d > 0 && d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d > 0 && d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// failure describes a failed attempt and what follows it: how it ended and when the
// next one starts stand first, the cause and the rule behind them. wait is nil
// if none follows.
func failure(e *event.AttemptFinished, wait *event.RetryScheduled, verbose bool) (title, text string) {
	text = "after " + Duration(e.Result.Duration) + ": " + cmp.Or(e.Ended, e.Reason)
	if wait != nil && wait.Jittered > 0 {
		text += "; " + next(&wait.Wait, verbose)
	}
	if e.Known != "" {
		text += ": " + e.Known
	}
	return "attempt " + Position(&e.Header) + " failed", text + Ruled(e.Rule, e.ByRule)
}

// rehearsal describes an attempt that was pretended.
func rehearsal(e *event.AttemptFinished) string {
	return "rehearsal: attempt " + Position(&e.Header) + " was not run, pretending " + cmp.Or(e.Ended, e.Reason)
}

// next says when the next attempt starts.
func next(w *event.Wait, verbose bool) string {
	switch {
	case w.HasHint:
		return fmt.Sprintf("next try in %s (it asked for %s)", Duration(w.Jittered), Duration(w.Hint))
	case verbose:
		return fmt.Sprintf("next try in %s (%s before jitter)", Duration(w.Jittered), Duration(w.Delay))
	}
	return "next try in " + Duration(w.Jittered)
}

// Ruled names the rule that decided, in brackets behind the cause; "" for none.
func Ruled(rule string, decided bool) string {
	if rule == "" || !decided {
		return ""
	}
	return " [" + rule + "]"
}

// End says how a run ended: what was run, after how many attempts, with which exit
// code, and why. A failure that was not retried has this line alone. verdict are the
// words of the text that say how it went, "" for none.
func End(e *event.RunFinished) (text, verdict string) {
	command := Command(e.Command)
	ran := fmt.Sprintf("%s of %s in %s", Attempts(e.Attempts), command, Duration(e.Elapsed))
	switch {
	case e.Repeated != nil && e.Repeated.Passed+e.Repeated.Failed > 0:
		return measured(e), ""
	case e.Outcome == event.Succeeded && e.Hunted && e.Attempts > 0:
		verdict = "no failure"
		return verdict + " in " + ran, verdict
	case e.Outcome == event.Succeeded:
		verdict = "succeeded"
		text = verdict + " after " + ran
		if e.ExitCode != 0 {
			text += fmt.Sprintf(", with exit code %d", e.ExitCode)
		}
		return text, verdict
	case e.Outcome == event.Parked:
		verdict = "parked"
		text = verdict + " after " + ran
		if e.Why != "" {
			text += ", " + e.Why
		}
		due := e.DueAt.Local().Format(time.DateTime)
		return fmt.Sprintf("%s, until %s, with exit code %d", text, due, e.ExitCode), verdict
	case e.FallbackExitCode != nil && *e.FallbackExitCode == 0:
		verdict = "succeeded"
		return "the fallback " + verdict + " after " + ran + cause(e), verdict
	case e.Found:
		verdict = "found a failure"
		text = fmt.Sprintf("%s after %s with exit code %d%s", verdict, ran, e.ExitCode, cause(e))
		return text + Ruled(e.Rule, e.ByRule), verdict
	case e.Attempts == 0:
		if command != "" {
			command += ", "
		}
		return fmt.Sprintf("%s (%safter %s, exit code %d)", e.Reason, command, Duration(e.Elapsed), e.ExitCode), ""
	case e.Outcome == event.Cancelled, e.Outcome == event.Failed:
		return fmt.Sprintf("%s, after %s, with exit code %d", e.Reason, ran, e.ExitCode), ""
	}
	return givenUp(e, command)
}

// givenUp is End for a command that has failed and is not retried.
func givenUp(e *event.RunFinished, command string) (text, verdict string) {
	verdict = fmt.Sprintf("failed with exit %d", e.ExitCode)
	after := " and was not retried"
	if e.Attempts > 1 {
		after = fmt.Sprintf(" after %s in %s", Attempts(e.Attempts), Duration(e.Elapsed))
	}
	text = command + " " + verdict + after + cause(e) + Ruled(e.Rule, e.ByRule)
	if e.FallbackExitCode != nil {
		text += "; the fallback failed"
	}
	for _, more := range []string{e.Why, e.Advice} {
		if more != "" && more != e.Ended {
			text += "; " + more
		}
	}
	if e.Repeated != nil { // the lines of --repeat have none
		verdict = ""
	}
	return text, verdict
}

// mostNamed is how many failed attempts are named in a line.
const mostNamed = 20

// measured says what --repeat has counted.
func measured(e *event.RunFinished) string {
	const percent = 100
	r := e.Repeated
	n := r.Passed + r.Failed
	text := fmt.Sprintf("%d of %d passed", r.Passed, n)
	if r.Failed > 0 {
		numbers := strings.Trim(fmt.Sprint(r.FailedAttempts[:min(r.Failed, mostNamed)]), "[]")
		more := ""
		if n := r.Failed - mostNamed; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		text += fmt.Sprintf(", %d failed (%s%s)", r.Failed, strings.ReplaceAll(numbers, " ", ", "), more)
	}
	text += fmt.Sprintf("; %.3g %% failed, 95 %% interval %.3g to %.3g %%; median %s, longest %s",
		percent*float64(r.Failed)/float64(n), percent*r.FailedLow, percent*r.FailedHigh,
		Duration(r.Median), Duration(r.Longest))
	switch {
	case e.Outcome == event.Succeeded:
		return text
	case e.Outcome != event.Exhausted:
		text = cmp.Or(e.Why, e.Reason) + "; " + text
	}
	return fmt.Sprintf("%s; exit code %d", text, e.ExitCode)
}

// longestCommand is how many characters of a command are shown, in which a reader
// recognises it.
const longestCommand = 40

// Command is a command as a line names it: its words without passwords, those with
// blanks in quotes, cut to fit into a line. That of --shell is written as the user
// wrote it: "/bin/sh -c 'exit 1' retry failed" names a failure of retry.
func Command(argv []string) string {
	if len(argv) > 3 && slices.Equal(text.Shell(argv[2], argv[4:]), argv) {
		argv = slices.Concat(argv[1:3], argv[4:])
	}
	words := make([]string, len(argv))
	for i, word := range text.MaskedArgs(argv) {
		words[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n") {
			words[i] = "'" + word + "'"
		}
	}
	line := []rune(strings.Join(words, " "))
	if len(line) > longestCommand {
		return string(line[:longestCommand-3]) + "..."
	}
	return string(line)
}

// cause is why the last attempt failed, behind a colon, if that is more than the exit
// code.
func cause(e *event.RunFinished) string {
	if e.Known == "" && e.Ended == fmt.Sprintf("exit %d", e.ExitCode) {
		return ""
	}
	return ": " + cmp.Or(e.Known, e.Ended, e.Reason)
}

// wanted is what a target is waited for to be, by Gone.
var wanted = map[bool]string{false: "ready", true: "gone"}

// Pending says which target is waited for, and why it still is.
func Pending(t *event.Target) string {
	text := t.Name
	if t.Gone {
		text += " to be gone"
	}
	if t.Reason != "" {
		text += ": " + t.Reason
	}
	return text
}

// stillPending says what is still waited for, and how long is left.
func stillPending(e *event.TargetsPending) string {
	var names []string
	for _, t := range e.Pending {
		t.Reason = ""
		names = append(names, Pending(&t))
	}
	text := "still waiting for " + strings.Join(names, ", ")
	if e.Limited {
		text += " (" + Duration(e.Left.Round(time.Second)) + " left)"
	}
	return text
}

// Printable replaces control characters, which could move the cursor or start
// a line of their own, and parts "##", with which commands to the runners of CI
// systems begin anywhere in a line ("##[name]", "##vso[name]"): the text may
// come from the command.
func Printable(s string) string {
	for strings.Contains(s, "##") {
		s = strings.ReplaceAll(s, "##", "# #")
	}
	return text.Printable(s)
}
