package sink

// This file writes for GitLab CI, whose log knows collapsible sections and
// colours, and no annotations.

import (
	"fmt"
	"io"
	"strings"

	"github.com/retrysh/retry/engine/event"
)

// GitLab is a sink for the log of a GitLab CI job: each attempt is a section,
// each failed one a line that begins with WARNING.
type GitLab struct{ *ci }

// NewGitLab returns a sink that writes to w, of a run whose record has each event before it.
func NewGitLab(w io.Writer, options CIOptions, run *event.Run) *GitLab {
	return &GitLab{newCI(w, options, sections{plain: options.Plain}, run)}
}

// sections are the markers of
// https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections.
type sections struct {
	plain bool // no colours; the markers are not for the eye
}

func (sections) fold(h *event.Header, title string) string {
	return marker("start", h) + title + "\n"
}

func (sections) unfold(h *event.Header) string { return marker("end", h) + "\n" }

// marker names the section after the run, since names must differ within a
// job. They are of letters, digits, ".", "_" and "-".
func marker(which string, h *event.Header) string {
	run, _, _ := strings.Cut(h.RunID, "-")
	return fmt.Sprintf("\x1b[0Ksection_%s:%d:retry_%s_%d\r\x1b[0K", which, h.Time.Unix(), run, h.Attempt)
}

func (s sections) warning(title, text string) string { return s.line("33", "WARNING", title, text) }
func (s sections) failure(title, text string) string { return s.line("31", "ERROR", title, text) }
func (sections) notice(title, text string) string    { return title + ": " + text + "\n" }

// line is in one of ECMA-48's colours.
func (s sections) line(color, level, title, text string) string {
	line := level + ": " + title + ": " + text
	if s.plain {
		return line + "\n"
	}
	return "\x1b[" + color + "m" + line + "\x1b[0m\n"
}
