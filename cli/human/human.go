// Package human writes events for a person, on standard error: one line for each
// failed attempt, one at the end, and a live countdown on a terminal.
//
// It alone uses colour. It decides nothing, and writes nothing when the first
// attempt succeeds.
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
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
)

// Level is how much is written.
type Level int

// The levels: errors of the program itself; failures and the end; every start and
// wait as well.
const (
	Quiet Level = iota - 1
	Normal
	Verbose
)

// Sink writes events for a person.
type Sink struct {
	Level Level
	Color bool
	// Screen is the terminal that W writes to, nil where it is none.
	Screen Screen
	// Name returns what lines call the run, "" for nothing.
	Name func() string
	// Timestamps puts the time before each line.
	Timestamps bool

	writing sync.Mutex // a leaf: guards W against hide, and what follows
	W       io.Writer
	shown   string // what is drawn now, "" for nothing
	undo    string // what erases it
	hidden  bool   // while the program is stopped

	emitting sync.Mutex             // guards what follows: a complaint may come at any time
	claimed  bool                   // the terminal is this run's to draw on
	timer    *time.Timer            // redraws what is drawn
	finished *event.AttemptFinished // the last one that failed, written with what follows it
	policy   string                 // chosen by the command's name, written with the first failure
}

// Emit writes one event.
func (s *Sink) Emit(e event.Event) {
	s.emitting.Lock()
	defer s.emitting.Unlock()
	if _, ok := e.(*event.Blocking); ok {
		return // nothing is written, and what is drawn may stay
	}
	s.clear()
	if e, ok := e.(*event.AttemptFinished); ok && e.Result.Rehearsed {
		s.line(faint, "%s", message.Rehearsal(e)) // at every level
	}
	if s.Level == Quiet {
		if e, ok := e.(*event.RunFinished); ok && e.OwnFailure() {
			s.line(bad, "%s", e.Reason)
		}
		return
	}
	switch e := e.(type) {
	case *event.RunStarted:
		s.policy = message.Unasked(e)
	case *event.InitialWait:
		s.detail("first try in %s", message.Duration(e.Wait))
		s.countdown(e.Wait, func(left string) string { return "first try in " + left })
	case *event.RetryScheduled:
		s.failedAttempt(e)
		if e.IgnoredHint != "" {
			s.detail("ignored: %s", e.IgnoredHint)
		}
		if e.NotYet {
			s.detail("attempt %s succeeded; %s", message.Position(&e.Header), message.Next(&e.Wait, true))
		}
		s.countdown(e.Jittered, func(left string) string { return "next try in " + left })
	case *event.RetryWaited:
		s.detail("waited %s (%s before jitter, %s after, %s slept)",
			message.Duration(e.Slept), message.Duration(e.Delay), message.Duration(e.Jittered), message.Duration(e.Slept))
	case *event.HookStarted:
		s.failedAttempt(nil) // first, as the hook may write lines of its own
		s.detail("%s starts", e.Hook)
	case *event.HookFinished:
		if e.Reason == "" {
			s.detail("%s took %s", e.Hook, message.Duration(e.Duration))
		} else {
			s.line(warning, "%s failed after %s: %s", e.Hook, message.Duration(e.Duration), e.Reason)
		}
	case *event.StoreFailed:
		s.line(warning, "the store %s: %s", e.Store, e.Reason)
	case *event.BreakerChanged:
		s.detail("the breaker of %q was %s and is %s", e.Key, e.From, e.To)
	case *event.RunFinished:
		s.end(e)
	default:
		s.attempt(e)
		s.waiting(e)
	}
}

// attempt writes events of attempts and their copies. A failure is kept until it is
// known what follows it; of a hedged attempt, only that of the last copy to end.
func (s *Sink) attempt(e event.Event) {
	switch e := e.(type) {
	case *event.AttemptStarted:
		s.detail("attempt %s starts%s", trial(&e.Header, &e.Which), using(e.Use))
		s.status(e)
	case *event.AttemptFinished:
		s.finished = nil
		if !e.Success {
			s.finished = e
		}
		switch {
		case !e.Hedged:
		case e.Success:
			s.detail("attempt %s succeeded after %s", trial(&e.Header, &e.Which), message.Duration(e.Result.Duration))
		default:
			s.detail("attempt %s failed after %s: %s", trial(&e.Header, &e.Which), message.Duration(e.Result.Duration), e.Reason)
		}
	case *event.AttemptCancelled:
		s.detail("attempt %s has lost and was ended after %s", trial(&e.Header, &e.Which), message.Duration(e.Result.Duration))
	case *event.GuardRefused:
		if e.Hedged { // that of an attempt is written at the end
			s.detail("attempt %s was refused: %s", trial(&e.Header, &e.Which), e.Reason)
		}
	}
}

// waiting writes what is waited for: live on a terminal, elsewhere by a line at
// intervals.
func (s *Sink) waiting(e event.Event) {
	switch e := e.(type) {
	case *event.TargetReady:
		s.line(good, "%s", message.TargetReady(e))
	case *event.TargetFailed:
		s.line(bad, "%s", message.TargetFailed(e))
	case *event.TargetPending:
		if s.Level == Verbose || !s.claim() {
			s.line(faint, "waiting for %s", message.Pending(&e.Target))
		}
	case *event.TargetsPending:
		switch {
		case s.claim():
			s.targets(e)
		case e.Beat:
			s.line(faint, "%s", message.StillPending(e))
		}
	case *event.SlotPending:
		if !s.claim() {
			s.line(faint, "%s", message.SlotPending(e, message.Duration(e.Left.Round(time.Second))))
			return
		}
		s.countdown(e.Left, func(left string) string { return message.Printable(message.SlotPending(e, left)) })
	}
}

// Print writes a line where the level is at least this one. At Quiet it is an error of
// the program itself.
func (s *Sink) Print(least Level, text string) {
	s.emitting.Lock()
	defer s.emitting.Unlock()
	if s.Level < least {
		return
	}
	shade := faint
	if least == Quiet {
		shade = bad
	}
	s.clear()
	s.line(shade, "%s", text)
}

// failedAttempt writes the last failed attempt and what follows it; next is nil
// if nothing does.
func (s *Sink) failedAttempt(next *event.RetryScheduled) {
	if s.finished == nil {
		return
	}
	title, text := message.Failure(s.finished, next, s.Level == Verbose)
	s.line(warning, "%s %s%s", title, text, s.policy)
	s.finished, s.policy = nil, ""
}

func (s *Sink) end(e *event.RunFinished) {
	switch {
	case e.ReaderGone: // SIGPIPE is silent, as without the wrapper
		return
	case e.Outcome == event.Succeeded && e.Attempts <= 1 && e.Repeated == nil:
		return
	}
	if e.Attempts > 1 && e.Outcome != event.Failed && e.Outcome != event.Cancelled { // else the command is not to blame
		s.failedAttempt(nil)
	}
	shade := bad
	switch {
	case e.Worked():
		shade = good
	case e.Outcome == event.Parked:
		shade = warning
	}
	s.line(shade, "%s%s", message.End(e), s.policy)
}

// trial is the position of an attempt, and which copy it is.
func trial(h *event.Header, w *event.Which) string {
	if w.Hedged {
		return fmt.Sprintf("%s, copy %d,", message.Position(h), w.Copy)
	}
	return message.Position(h)
}

// using lists the rotated values of an attempt.
func using(use map[string]string) string {
	var text string
	for _, name := range slices.Sorted(maps.Keys(use)) {
		text += ", " + name + "=" + use[name]
	}
	return strings.Replace(text, ", ", " with ", 1)
}

// The colours of the four kinds of line.
const (
	good    = color.FgGreen
	warning = color.FgYellow
	bad     = color.FgRed
	faint   = color.Faint
)

// detail writes a line in verbose mode only.
func (s *Sink) detail(format string, args ...any) {
	if s.Level == Verbose {
		s.line(faint, format, args...)
	}
}

// line writes one line, which a terminal gets wrapped at words. Control characters
// from the command or the user are replaced. The colour library's own choice, which
// follows standard output, is overridden.
func (s *Sink) line(shade color.Attribute, format string, args ...any) {
	line := s.prefix() + message.Printable(fmt.Sprintf(format, args...))
	if s.Timestamps {
		line = time.Now().Format(text.Timestamp) + " " + line
	}
	c := color.New(shade)
	if c.DisableColor(); s.Color {
		c.EnableColor()
	}
	var b strings.Builder
	for _, row := range wrap(line, s.columns()) {
		b.WriteString(c.Sprint(row) + "\n")
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.put(b.String())
}

// prefix begins every line. It names the run where it was given a name, or others
// write to the same terminal.
func (s *Sink) prefix() string {
	if name := s.Name(); name != "" {
		return "retry[" + message.Printable(name) + "]: "
	}
	return "retry: "
}

// put writes; s.writing is held.
func (s *Sink) put(text string) {
	if text != "" {
		_, _ = io.WriteString(s.W, text)
	}
}

// indent begins each row after the first.
const indent = "       "

// leastColumns is the narrowest terminal that lines are wrapped for.
const leastColumns = len(indent) + 5

// wrap breaks text at blanks into rows of less than width columns: one that ends
// in the last column makes some terminals leave an empty row. A longer word
// stays whole, to be copied. A width of 0 breaks nothing.
func wrap(text string, width int) []string {
	if width < leastColumns {
		return []string{text}
	}
	var rows []string
	for {
		end, columns := -1, 0 // the last blank that a row can end at, and the columns before
		for i, r := range text {
			if r == ' ' && i > len(indent) && (columns < width || end < 0) {
				end = i
			}
			columns += columnsOf(r)
		}
		if columns < width || end < 0 {
			return append(rows, text)
		}
		rows = append(rows, text[:end])
		text = indent + strings.TrimLeft(text[end:], " ")
	}
}

// firstWide is the first letter that may take two columns (Unicode Standard
// Annex 11: Hangul Jamo).
const firstWide = 0x1100

func columnsOf(r rune) int {
	if r >= firstWide {
		return 2
	}
	return 1
}
