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
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
)

// longestText bounds what is shown of a text from outside, in runes: a log
// needs to name a command, not to hold it.
const longestText = 300

// CIOptions say what is written, and how.
type CIOptions struct {
	// Quiet writes nothing but complaints.
	Quiet bool
	// Plain leaves out colours.
	Plain bool
}

// ci writes a run to a CI log. What differs between runners is in dialect.
type ci struct {
	dialect dialect
	options CIOptions

	mu       sync.Mutex // a complaint may come at any time
	w        io.Writer
	command  string                 // as it is shown
	policy   string                 // one that applies unasked, named with the first failure
	open     bool                   // a fold
	finished *event.AttemptFinished // the last one that failed, written with what follows it
}

// dialect is the syntax of a runner. Text is inert already.
type dialect interface {
	fold(h *event.Header, title string) string
	unfold(h *event.Header) string
	warning(title, text string) string
	failure(title, text string) string
	notice(title, text string) string
}

// Complain writes a warning of the program's own.
func (s *ci) Complain(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(s.dialect.warning("retry", inert(text)))
}

// Emit writes one event.
func (s *ci) Emit(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := e.(*event.AttemptFinished); ok && e.Result.Rehearsed {
		s.write("retry: " + inert(message.Rehearsal(e)) + "\n")
	}
	if s.options.Quiet {
		if e, ok := e.(*event.RunFinished); ok && e.OwnFailure() {
			s.end(e)
		}
		return
	}
	switch e := e.(type) {
	case *event.RunStarted:
		s.command, s.policy = shown(e.Command), message.Unasked(e)
	case *event.AttemptStarted:
		if !s.open { // else it is a further copy
			s.open = true
			s.write(s.dialect.fold(&e.Header, "retry: attempt "+message.Position(&e.Header)+": "+s.command))
		}
	case *event.AttemptFinished:
		if !e.Hedged { // the fold of a hedged attempt holds all copies
			s.unfold(&e.Header)
		}
		s.finished = nil
		if !e.Success && !e.Result.ReaderGone {
			s.finished = e
		}
	case *event.RetryScheduled:
		s.unfold(&e.Header)
		s.failedAttempt(e)
	case *event.HookStarted:
		s.unfold(&e.Header)
		s.failedAttempt(nil)
	case *event.HookFinished:
		if e.Reason != "" {
			s.write(s.dialect.warning("retry: "+e.Hook+" failed", "after "+message.Duration(e.Duration)+": "+inert(e.Reason)))
		}
	case *event.StoreFailed:
		s.write(s.dialect.warning("retry: the store "+inert(e.Store), inert(e.Reason)))
	case *event.RunFinished:
		s.unfold(&e.Header)
		if e.Attempts > 1 { // else the last line says all of it
			s.failedAttempt(nil)
		}
		s.end(e)
	default:
		s.target(e)
	}
}

// target writes about the targets that are waited for.
func (s *ci) target(e event.Event) {
	switch e := e.(type) {
	case *event.TargetPending:
		s.write("retry: waiting for " + inert(message.Pending(&e.Target)) + "\n")
	case *event.TargetsPending:
		if e.Beat {
			s.write("retry: " + inert(message.StillPending(e)) + "\n")
		}
	case *event.SlotPending:
		s.write("retry: " + inert(message.SlotPending(e, message.Duration(e.Left.Round(time.Second)))) + "\n")
	case *event.TargetReady:
		s.write("retry: " + inert(message.TargetReady(e)) + "\n")
	case *event.TargetFailed:
		s.write(s.dialect.warning("retry", inert(message.TargetFailed(e))))
	}
}

// unfold closes what is open. What the command wrote last may lack its
// newline, and a marker is only understood at the start of a line.
func (s *ci) unfold(h *event.Header) {
	if s.open {
		s.open = false
		s.write("\n" + s.dialect.unfold(h))
	}
}

func (s *ci) failedAttempt(next *event.RetryScheduled) {
	e := s.finished
	if e == nil {
		return
	}
	s.finished = nil
	title, text := message.Failure(e, next, false)
	s.write(s.dialect.warning("retry: "+title, inert(text+s.policy)))
	s.policy = ""
}

func (s *ci) end(e *event.RunFinished) {
	switch {
	case e.ReaderGone: // the end is SIGPIPE's, which says nothing
	case !e.Worked():
		s.write(s.dialect.failure("retry: "+string(e.Outcome), inert(message.End(e)+s.policy)))
	case e.Attempts > 1 || e.Outcome != event.Succeeded || e.Repeated != nil:
		s.write(s.dialect.notice("retry: "+string(e.Outcome), inert(message.End(e))))
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
