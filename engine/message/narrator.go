package message

// This file turns the events of a run into lines. What differs between a terminal, GitHub
// and GitLab is how they draw a line.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// Level is what a line is about, the least important first.
type Level int

// The levels of lines.
const (
	Detail  Level = iota // for verbose mode
	Info                 // what the run waits for
	Good                 // a success
	Warning              // a failure that does not end the run
	Bad                  // the end of a run that failed, or an error of the program itself
)

// Line is what is said of an event.
type Line struct {
	Level Level
	// Title says what the line is about, if that can stand alone, else it is ""; Text says
	// the rest.
	Title, Text string
	// Verdict are the words of Title or Text that say how something went, "" for none.
	Verdict string
	// Always says that --quiet does not silence the line.
	Always bool
	// Outcome is how the run ended, if the line says that, else it is "".
	Outcome event.Outcome
}

// String is the whole line.
func (l *Line) String() string {
	title := l.Title
	if title != "" {
		title += " "
	}
	return title + l.Text
}

// Narrator says what happens in a run, event by event.
type Narrator struct {
	Run *event.Run // has each event before the narrator
	// Verbose says more of waits, Quiet of the end only what the program itself failed at.
	Verbose, Quiet bool

	told      *event.AttemptFinished // the failed attempt that was told last
	overruled bool                   // it was told that a rule matched in a success
	explained bool                   // it was told what the number of -t means
}

// Tell returns the lines for an event, which is the next one of the run.
func (n *Narrator) Tell(e event.Event) []Line {
	switch e := e.(type) {
	case *event.AttemptStarted, *event.AttemptFinished, *event.AttemptCancelled, *event.GuardRefused:
		return n.attempt(e)
	case *event.InitialWait:
		return detail("%s", firstTry(Duration(e.Wait)))
	case *event.RetryScheduled:
		return n.scheduled(e)
	case *event.RetryWaited:
		return detail("waited %s (%s before jitter, %s after, %s slept)",
			Duration(e.Slept), Duration(e.Delay), Duration(e.Jittered), Duration(e.Slept))
	case *event.HookStarted:
		// First the attempt, since the hook may write lines of its own.
		return slices.Concat(n.failure(nil), detail("%s starts", e.Hook))
	case *event.HookFinished:
		if e.Reason == "" {
			return detail("%s took %s", e.Hook, Duration(e.Duration))
		}
		text := "after " + Duration(e.Duration) + ": " + e.Reason
		return []Line{{Level: Warning, Title: e.Hook + " failed", Text: text, Verdict: "failed"}}
	case *event.StoreFailed:
		return []Line{{Level: Warning, Title: "the store " + e.Store + ":", Text: e.Reason}}
	case *event.BreakerChanged:
		return detail("the breaker of %q was %s and is %s", e.Key, e.From, e.To)
	case *event.Concluding:
		return n.last(e.Attempt, &e.Ending)
	case *event.RunFinished:
		return n.end(e)
	}
	return waiting(e)
}

func detail(format string, args ...any) []Line {
	return []Line{{Level: Detail, Text: fmt.Sprintf(format, args...)}}
}

// attempt tells of attempts and their copies, but for a failure, which is told with what
// follows it.
func (n *Narrator) attempt(e event.Event) []Line {
	switch e := e.(type) {
	case *event.AttemptStarted:
		return detail("attempt %s starts%s", trial(&e.Header, &e.Which), using(e.Use))
	case *event.AttemptFinished:
		var lines []Line
		if e.Result.Rehearsed {
			lines = []Line{{Level: Info, Text: rehearsal(e), Always: true}}
		}
		if e.Hedged {
			lines = append(lines, copyEnded(e)...)
		}
		return append(lines, n.overruledRule(e)...)
	case *event.AttemptCancelled:
		return detail("attempt %s has lost and was ended after %s", trial(&e.Header, &e.Which),
			Duration(e.Result.Duration))
	case *event.GuardRefused:
		if e.Hedged { // that of an attempt is told at the end
			return detail("attempt %s was refused: %s", trial(&e.Header, &e.Which), e.Reason)
		}
	}
	return nil
}

// overruledRule says once that a rule which matched has not made a success a failure.
func (n *Narrator) overruledRule(e *event.AttemptFinished) []Line {
	if e.Overruled == "" || n.overruled {
		return nil
	}
	n.overruled = true
	flag, _, _ := strings.Cut(e.Overruled, " ")
	text := fmt.Sprintf("%s matched, but the attempt was a success (%s); --fail-%s makes it a failure",
		e.Overruled, e.Ended, strings.TrimPrefix(flag, "--"))
	return []Line{{Level: Warning, Text: text}}
}

func copyEnded(e *event.AttemptFinished) []Line {
	which := trial(&e.Header, &e.Which)
	took := Duration(e.Result.Duration)
	if e.Success {
		return detail("attempt %s succeeded after %s", which, took)
	}
	return detail("attempt %s failed after %s: %s", which, took, e.Reason)
}

// scheduled tells of the attempt before a wait.
func (n *Narrator) scheduled(e *event.RetryScheduled) []Line {
	lines := n.failure(e)
	if e.IgnoredHint != "" {
		lines = append(lines, detail("ignored: %s", e.IgnoredHint)...)
	}
	if e.NotYet {
		lines = append(lines, detail("attempt %s succeeded; %s", Position(&e.Header), next(&e.Wait, true))...)
	}
	return lines
}

// untold is the last failed attempt, nil if it was told. Of a failure since the output has no
// reader, none is told.
func (n *Narrator) untold() *event.AttemptFinished {
	f := n.Run.Failure
	if f == nil || f == n.told || f.Result.ReaderGone {
		return nil
	}
	return f
}

// failure tells of the last failed attempt and what follows it; next is nil if nothing
// does.
func (n *Narrator) failure(next *event.RetryScheduled) []Line {
	f := n.untold()
	if f == nil {
		return nil
	}
	title, text := failure(f, next, n.Verbose)
	line := Line{Level: Warning, Title: title, Text: text + n.more(), Verdict: "failed"}
	n.told = f
	return []Line{line}
}

// more is what the first line about a timeout says beside it.
func (n *Narrator) more() string {
	number := n.Run.Start.BareTimeout
	f := n.untold()
	if number == "" || n.explained || f == nil || !f.Result.TimedOut || f.Result.Idle {
		return ""
	}
	n.explained = true
	return fmt.Sprintf(" (-t %s limits one attempt to %[1]s s; -n %[1]s is the number of attempts)", number)
}

// end tells how the run ended. A first attempt that succeeded says nothing.
func (n *Narrator) end(e *event.RunFinished) []Line {
	switch {
	case e.ReaderGone: // SIGPIPE is silent, as without the wrapper
		return nil
	case e.Outcome == event.Succeeded && e.Attempts <= 1 && e.Repeated == nil:
		return nil
	}
	lines := n.last(e.Attempts, &e.Ending)
	text, verdict := End(e)
	last := Line{
		Level: Bad, Text: text + n.more(), Verdict: verdict, Always: e.OwnFailure(), Outcome: e.Outcome,
	}
	if n.Quiet {
		last.Text = e.Reason
	}
	switch {
	case e.Worked():
		last.Level = Good
	case e.Outcome == event.Parked:
		last.Level = Warning
	}
	return append(lines, last)
}

// last tells of the last attempt, if the last line does not say all of it.
func (n *Narrator) last(attempts int, e *event.Ending) []Line {
	if attempts > 1 && e.Outcome != event.Failed && e.Outcome != event.Cancelled { // else the command is not to blame
		return n.failure(nil)
	}
	return nil
}

// waiting tells what is waited for.
func waiting(e event.Event) []Line {
	switch e := e.(type) {
	case *event.TargetPending:
		return []Line{{Level: Info, Text: WaitingFor(Pending(&e.Target), "")}}
	case *event.TargetsPending:
		if e.Beat {
			return []Line{{Level: Info, Text: stillPending(e)}}
		}
	case *event.SlotPending:
		return []Line{{Level: Info, Text: slotPending(e, Duration(e.Left.Round(time.Second)))}}
	case *event.TargetReady:
		is := "is " + wanted[e.Gone]
		return []Line{{Level: Good, Text: e.Name + " " + is + " after " + Duration(e.After), Verdict: is}}
	case *event.TargetFailed:
		is := "is not " + wanted[e.Gone]
		if e.While {
			is = "is not ready, which ends the wait"
		}
		return []Line{{Level: Bad, Text: e.Name + " " + is + ": " + e.Reason, Verdict: is}}
	}
	return nil
}

// trial is the position of an attempt, and which copy it is.
func trial(h *event.Header, w *event.Which) string {
	if w.Hedged {
		return fmt.Sprintf("%s, copy %d,", Position(h), w.Copy)
	}
	return Position(h)
}

// using lists the rotated values of an attempt.
func using(use map[string]string) string {
	var text string
	for _, name := range slices.Sorted(maps.Keys(use)) {
		text += ", " + name + "=" + use[name]
	}
	return strings.Replace(text, ", ", " with ", 1)
}
