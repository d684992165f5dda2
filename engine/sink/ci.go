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
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// longestText bounds what is shown of a text from outside, in runes: a log
// needs to name a command, not to hold it.
const longestText = 300

// CIOptions say how to tell it.
type CIOptions struct {
	// Quiet tells nothing but complaints.
	Quiet bool
	// Plain leaves out colours.
	Plain bool
	// Failed is given the first error of the log. It must not complain to the
	// same sink.
	Failed func(error)
}

// ci tells a run to a CI log. What differs between runners is in dialect.
type ci struct {
	dialect dialect
	options CIOptions

	mu       sync.Mutex // a complaint may come at any time
	w        io.Writer
	failed   bool
	command  string                 // as it is shown
	open     bool                   // a fold
	finished *event.AttemptFinished // the last one that failed, told with what follows it
}

// dialect is how a runner wants to be told. Text is inert already.
type dialect interface {
	fold(h *event.Header, title string) string
	unfold(h *event.Header) string
	warning(title, text string) string
	failure(title, text string) string
	notice(title, text string) string
}

// Complain tells of a trouble of the program's own.
func (s *ci) Complain(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(s.dialect.warning("retry", inert(text)))
}

// Emit tells one event.
func (s *ci) Emit(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.Quiet {
		if e, ok := e.(*event.RunFinished); ok && e.Outcome != event.Succeeded && (e.Outcome == event.Failed || e.NotStarted) {
			s.end(e)
		}
		return
	}
	switch e := e.(type) {
	case *event.RunStarted:
		s.command = shown(e.Command)
	case *event.AttemptStarted:
		if !s.open { // else it is a further copy
			s.open = true
			s.write(s.dialect.fold(&e.Header, "retry: attempt "+position(&e.Header)+": "+s.command))
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
		s.failedAttempt("; next try in " + short(e.Jittered))
	case *event.TargetPending:
		s.write("retry: waiting for " + inert(e.Target) + ": " + inert(e.Reason) + "\n")
	case *event.TargetReady:
		s.write("retry: " + inert(e.Target) + " is ready after " + short(e.Elapsed) + "\n")
	case *event.TargetFailed:
		s.write(s.dialect.warning("retry", inert(e.Target)+" is not ready: "+inert(e.Reason)))
	case *event.HookStarted:
		s.failedAttempt("")
	case *event.HookFinished:
		if e.Reason != "" {
			s.write(s.dialect.warning("retry: "+e.Hook+" failed", "after "+short(e.Duration)+": "+inert(e.Reason)))
		}
	case *event.RunFinished:
		s.unfold(&e.Header)
		s.failedAttempt("")
		s.end(e)
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

func (s *ci) failedAttempt(what string) {
	e := s.finished
	if e == nil {
		return
	}
	s.finished = nil
	s.write(s.dialect.warning("retry: attempt "+position(&e.Header)+" failed", "after "+short(e.Result.Duration)+": "+because(e.Reason, e.Rule)+what))
}

func (s *ci) end(e *event.RunFinished) {
	switch {
	case e.ReaderGone: // the end is SIGPIPE's, which says nothing
	case e.Outcome != event.Succeeded:
		s.write(s.dialect.failure("retry: "+string(e.Outcome), summary(e)))
	case e.Attempts > 1:
		s.write(s.dialect.notice("retry: "+string(e.Outcome), summary(e)))
	}
}

func (s *ci) write(text string) {
	if _, err := io.WriteString(s.w, text); err != nil && !s.failed {
		s.failed = true
		s.options.Failed(err)
	}
}

// summary says in words how a run ended.
func summary(e *event.RunFinished) string {
	after := fmt.Sprintf("after %d attempts in %s", e.Attempts, short(e.Elapsed))
	if e.Attempts == 1 {
		after = "after 1 attempt in " + short(e.Elapsed)
	}
	if e.Outcome == event.Succeeded {
		return "succeeded " + after
	}
	text := fmt.Sprintf("gave up %s with exit code %d: %s", after, e.ExitCode, because(e.Reason, e.Rule))
	for _, more := range []string{e.Why, e.Advice} {
		if more != "" {
			text += "; " + inert(more)
		}
	}
	return text
}

// shown is a command for a person to recognise.
func shown(argv []string) string { return inert(strings.Join(masked(argv), " ")) }

// because is why an attempt failed or a run ended, with the rule.
func because(reason, rule string) string {
	if rule == "" {
		return inert(reason)
	}
	return inert(reason) + " [" + inert(rule) + "]"
}

// position says which attempt, of how many.
func position(h *event.Header) string {
	if h.MaxAttempts == 0 {
		return fmt.Sprint(h.Attempt)
	}
	return fmt.Sprintf("%d of %d", h.Attempt, h.MaxAttempts)
}

// short rounds to what a person reads.
func short(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// inert takes from a text what a runner could read as a command. A control
// character could start a line or draw over one. "##" begins the runner's old
// form of a command, "##[name]", which it looks for anywhere in a line
// (actions/runner, ActionCommand.TryParse), and Azure's "##vso[name]".
// "section_" begins GitLab's markers.
func inert(text string) string {
	var b strings.Builder
	runes, last := 0, ' '
	for _, r := range text {
		if runes++; runes > longestText {
			b.WriteString(" ...")
			break
		}
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			r = ' '
		}
		if r == '#' && last == '#' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return strings.ReplaceAll(b.String(), "section_", "section-")
}
