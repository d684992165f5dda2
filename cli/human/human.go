// Package human tells a person what happens, on standard error: one line for
// each failed attempt, one at the end, and a live countdown on a terminal.
//
// It is the only place that knows of colour. It will never decide anything,
// and says nothing when the first attempt succeeds.
package human

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fatih/color"

	"github.com/retrysh/retry/engine/event"
)

// Level says how much is told.
type Level int

// The levels: failures and the end; nothing; every start and wait as well.
const (
	Normal Level = iota
	Quiet
	Verbose
)

// Options say how to tell it.
type Options struct {
	Level Level
	Color bool
	// Width returns the terminal's width in columns, and 0 where a countdown
	// should not be drawn now. nil means that w is no terminal.
	Width func() int
	// Failed is given the first error of the writer. nil ignores it: where
	// standard error itself cannot be written there is nobody to tell.
	Failed func(error)
}

// Sink writes events for a person.
type Sink struct {
	options Options

	writing sync.Mutex // guards w against the countdown
	w       io.Writer
	failed  bool

	telling   sync.Mutex // guards what follows: a complaint may come at any time
	countdown *countdown
	finished  *event.AttemptFinished // the last one that failed, told with what follows it
	policy    string                 // one that nobody named, told with the first failure
}

// New returns a sink that writes to w.
func New(w io.Writer, options Options) *Sink {
	return &Sink{w: w, options: options}
}

// Emit tells one event.
func (s *Sink) Emit(e event.Event) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.stopCountdown()
	if s.options.Level == Quiet {
		s.ownTrouble(e)
		return
	}
	verbose := s.options.Level == Verbose
	switch e := e.(type) {
	case *event.RunStarted:
		if e.PolicyUnasked {
			s.policy = fmt.Sprintf(" (policy %s, %s)", e.Policy, e.PolicySource)
		}
	case *event.InitialWait:
		if verbose {
			s.line(faint, "first try in %s", Duration(e.Wait))
		}
		s.startCountdown("first try", e.Wait)
	case *event.AttemptStarted:
		if verbose {
			s.line(faint, "attempt %s starts%s", trial(&e.Header, &e.Which), using(e.Use))
		}
	case *event.AttemptFinished:
		s.copyFinished(e)
	case *event.AttemptCancelled:
		if verbose {
			s.line(faint, "attempt %s has lost and was ended after %s", trial(&e.Header, &e.Which), Duration(e.Result.Duration))
		}
	case *event.RetryScheduled:
		s.failedAttempt(next(e, verbose))
		if e.IgnoredHint != "" && verbose {
			s.line(faint, "ignored: %s", e.IgnoredHint)
		}
		s.startCountdown("next try", e.Jittered)
	case *event.RetryWaited:
		if verbose {
			s.line(faint, "waited %s (%s before jitter, %s after, %s slept)",
				Duration(e.Slept), Duration(e.Delay), Duration(e.Jittered), Duration(e.Slept))
		}
	case *event.TargetReady:
		s.line(good, "%s is ready after %s", e.Target, Duration(e.Elapsed))
	case *event.TargetPending:
		s.line(faint, "waiting for %s: %s", e.Target, e.Reason)
	case *event.TargetFailed:
		s.line(bad, "%s is not ready: %s", e.Target, e.Reason)
	case *event.HookStarted, *event.HookFinished:
		s.hook(e, verbose)
	case *event.RunFinished:
		s.end(e)
	}
}

// hook tells of a hook that starts or has ended: what the attempt before it came
// to is told first, as the hook may write lines of its own.
func (s *Sink) hook(e event.Event, verbose bool) {
	switch e := e.(type) {
	case *event.HookStarted:
		s.failedAttempt("")
		if verbose {
			s.line(faint, "%s starts", e.Hook)
		}
	case *event.HookFinished:
		switch {
		case e.Reason != "":
			s.line(warning, "%s failed after %s: %s", e.Hook, Duration(e.Duration), e.Reason)
		case verbose:
			s.line(faint, "%s took %s", e.Hook, Duration(e.Duration))
		}
	}
}

// ownTrouble tells what is left to tell under Quiet: that the program itself
// failed, or had nothing to start. Without it a shell would have said that.
func (s *Sink) ownTrouble(e event.Event) {
	if e, ok := e.(*event.RunFinished); ok && e.Outcome != event.Succeeded && (e.Outcome == event.Failed || e.NotStarted) {
		s.line(bad, "%s", e.Reason)
	}
}

// Note tells something that is no trouble, where much is told.
func (s *Sink) Note(text string) {
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.options.Level == Verbose {
		s.line(faint, "%s", text)
	}
}

// Complain tells of a trouble of the program's own, whatever the level.
func (s *Sink) Complain(text string) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.stopCountdown()
	s.line(bad, "%s", text)
}

// Close erases the countdown, if one is running.
func (s *Sink) Close() {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.stopCountdown()
}

// failedAttempt tells the last failed attempt and what follows it.
func (s *Sink) failedAttempt(what string) {
	e := s.finished
	if e == nil {
		return
	}
	s.finished = nil
	text := fmt.Sprintf("attempt %s failed after %s: %s", position(&e.Header), Duration(e.Result.Duration), e.Reason)
	if e.Rule != "" {
		text += " [" + e.Rule + "]"
	}
	s.line(warning, "%s%s%s", text, what, s.policy)
	s.policy = ""
}

// copyFinished keeps a failure until it is known what follows it. Of a hedged
// attempt that is the last copy to end; of the others a verbose line tells.
func (s *Sink) copyFinished(e *event.AttemptFinished) {
	s.finished = nil
	if !e.Success {
		s.finished = e
	}
	switch {
	case s.options.Level != Verbose || !e.Hedged:
	case e.Success:
		s.line(faint, "attempt %s succeeded after %s", trial(&e.Header, &e.Which), Duration(e.Result.Duration))
	default:
		s.line(faint, "attempt %s failed after %s: %s", trial(&e.Header, &e.Which), Duration(e.Result.Duration), e.Reason)
	}
}

func (s *Sink) end(e *event.RunFinished) {
	tried := e.Attempts > 1 || e.Outcome != event.Succeeded
	if e.ReaderGone { // SIGPIPE is silent, as without the wrapper
		return
	}
	if e.Outcome != event.Failed && e.Outcome != event.Cancelled { // else the command is not to blame
		s.failedAttempt("")
	}
	if !tried {
		return
	}
	after := fmt.Sprintf("after %s in %s", attempts(e.Attempts), Duration(e.Elapsed))
	switch {
	case e.Outcome == event.Succeeded:
		s.line(good, "succeeded %s", after)
	case e.Attempts == 0:
		s.line(bad, "%s (after %s)", e.Reason, Duration(e.Elapsed))
	case e.Outcome == event.Cancelled, e.Outcome == event.Failed:
		s.line(bad, "%s, %s", e.Reason, after)
	default:
		s.line(bad, "gave up %s: %s", after, ending(e))
	}
}

// ending says why no attempt followed; an advice goes with a run that used all
// its attempts and had more than one.
func ending(e *event.RunFinished) string {
	switch {
	case e.Why != "":
		return e.Why
	case e.Advice == "", e.Outcome == event.Exhausted && e.MaxAttempts == 1:
		return outcome(e.Outcome)
	}
	return outcome(e.Outcome) + "; " + e.Advice
}

// outcome says why no attempt followed; why the last one failed has been told.
func outcome(o event.Outcome) string {
	switch o {
	case event.Exhausted:
		return "no attempt is left"
	case event.Stopped:
		return "another attempt would not help"
	case event.Deadline:
		return "no time is left before the deadline"
	case event.Refused:
		return "refused"
	}
	return ""
}

func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

// position says which attempt, of how many.
func position(h *event.Header) string {
	if h.MaxAttempts == 0 {
		return fmt.Sprint(h.Attempt)
	}
	return fmt.Sprintf("%d of %d", h.Attempt, h.MaxAttempts)
}

// trial is position, and which copy.
func trial(h *event.Header, w *event.Which) string {
	if w.Hedged {
		return fmt.Sprintf("%s, copy %d,", position(h), w.Copy)
	}
	return position(h)
}

// using says which values the words have.
func using(use map[string]string) string {
	var text string
	for _, name := range slices.Sorted(maps.Keys(use)) {
		text += ", " + name + "=" + use[name]
	}
	return strings.Replace(text, ", ", " with ", 1)
}

func next(e *event.RetryScheduled, verbose bool) string {
	switch {
	case e.HasHint:
		return fmt.Sprintf("; next try in %s (it asked for %s)", Duration(e.Jittered), Duration(e.Hint))
	case verbose:
		return fmt.Sprintf("; next try in %s (%s before jitter)", Duration(e.Jittered), Duration(e.Delay))
	}
	return "; next try in " + Duration(e.Jittered)
}

// Duration rounds to what a person reads: three digits or so.
func Duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(time.Millisecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return d.String()
}

// The colours of the four kinds of line.
const (
	good    = color.FgGreen
	warning = color.FgYellow
	bad     = color.FgRed
	faint   = color.Faint
)

// line writes one line. What came from the command or the user is made to stay
// on it.
func (s *Sink) line(shade color.Attribute, format string, args ...any) {
	text := "retry: " + Printable(fmt.Sprintf(format, args...))
	if s.options.Color {
		c := color.New(shade)
		c.EnableColor()
		text = c.Sprint(text)
	}
	s.write(text + "\n")
}

func (s *Sink) write(text string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := io.WriteString(s.w, text); err != nil && !s.failed && s.options.Failed != nil {
		s.failed = true
		s.options.Failed(err)
	}
}

// Printable replaces control characters, which could move the cursor or start
// a line of their own, and parts "##", with which commands to the runners of CI
// systems begin anywhere in a line ("##[name]", "##vso[name]"): the text may
// come from the command.
func Printable(s string) string {
	for strings.Contains(s, "##") {
		s = strings.ReplaceAll(s, "##", "# #")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}
