package sink

// This file holds what the sinks for CI logs share. Their lines stand in a log
// that a runner searches for commands, among text that the wrapped command
// chose: arguments, matched lines, names of files. So whatever comes from
// outside is made inert before it is written.
//
// The lines go to standard error only, so that nothing gets into what is piped
// or redirected from standard output. An attempt's output stays what it is; it
// is folded by the lines before and after it.

import (
	"io"
	"strings"
	"sync"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
)

// longestText bounds what is shown of a text from outside, in runes: a log
// needs to name a command, not to hold it.
const longestText = 300

// CIOptions say what is written, and how.
type CIOptions struct {
	// Quiet writes nothing but warnings of the program itself.
	Quiet bool
	// Plain leaves out colours.
	Plain bool
}

// ci writes a run to a CI log. What differs between runners is in dialect.
type ci struct {
	dialect dialect
	options CIOptions

	mu       sync.Mutex // a warning may come at any time
	w        io.Writer
	narrator message.Narrator
	command  string // as it is shown
	open     bool   // a fold
}

// dialect is the syntax of a runner. Text is inert already.
type dialect interface {
	fold(h *event.Header, title string) string
	unfold(h *event.Header) string
	warning(title, text string) string
	failure(title, text string) string
	notice(title, text string) string
}

func newCI(w io.Writer, options CIOptions, d dialect, run *event.Run) *ci {
	return &ci{w: w, options: options, dialect: d, narrator: message.Narrator{Run: run}}
}

// Warn writes a warning of the program's own.
func (s *ci) Warn(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(s.dialect.warning("retry", inert(text)))
}

// Emit writes one event.
func (s *ci) Emit(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.options.Quiet {
		s.folds(e)
	}
	for _, line := range s.narrator.Tell(e) {
		if line.Level > message.Detail && (line.Always || !s.options.Quiet) {
			s.write(s.draw(&line))
		}
	}
}

// folds opens a fold for an attempt, and closes it before what is said of it.
func (s *ci) folds(e event.Event) {
	switch e := e.(type) {
	case *event.RunStarted:
		s.command = shown(e.Command)
	case *event.AttemptStarted:
		if !s.open { // else it is a further copy
			s.open = true
			s.write(s.dialect.fold(&e.Header, "retry: attempt "+message.Position(&e.Header)+": "+s.command))
		}
	case *event.AttemptFinished:
		if !e.Hedged { // the fold of a hedged attempt holds all copies
			s.unfold(&e.Header)
		}
	case *event.RetryScheduled, *event.HookStarted, *event.RunFinished:
		s.unfold(e.Head())
	}
}

// draw is a line in the syntax of the runner. Unless the run worked, its end is a failure: so is
// that of a parked run, whose work is not done.
func (s *ci) draw(line *message.Line) string {
	title, text := "retry", inert(line.String())
	if line.Title != "" {
		title, text = "retry: "+inert(strings.TrimSuffix(line.Title, ":")), inert(line.Text)
	}
	ends := line.Outcome != ""
	if ends {
		title = "retry: " + string(line.Outcome)
	}
	switch {
	case ends && line.Level == message.Good:
		return s.dialect.notice(title, text)
	case ends:
		return s.dialect.failure(title, text)
	case line.Level >= message.Warning:
		return s.dialect.warning(title, text)
	}
	return title + ": " + text + "\n"
}

// unfold closes what is open. What the command wrote last may lack its
// newline, and a marker is only understood at the start of a line.
func (s *ci) unfold(h *event.Header) {
	if s.open {
		s.open = false
		s.write("\n" + s.dialect.unfold(h))
	}
}

func (s *ci) write(text string) { _, _ = io.WriteString(s.w, text) }

// shown is a command for a person to recognise.
func shown(argv []string) string { return inert(strings.Join(text.MaskedArgs(argv), " ")) }

// inert takes from a text what a runner could read as a command: control
// characters and "##" (actions/runner, ActionCommand.TryParse), and "section_",
// which begins GitLab's markers.
func inert(text string) string {
	var b strings.Builder
	runes := 0
	for _, r := range message.Printable(text) {
		if runes++; runes > longestText {
			b.WriteString(" ...")
			break
		}
		b.WriteRune(r)
	}
	return strings.ReplaceAll(b.String(), "section_", "section-")
}
