package cli

// This file writes for a person, and draws on the terminal.

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/retrysh/retry/cli/human"
	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/proc/stdio"
)

// forPerson writes events for a person.
func (out *output) forPerson(w io.Writer, quiet bool) *human.Sink {
	o := out.o
	s := &human.Sink{W: w, Name: func() string { return string(o.Name) }, Timestamps: o.Timestamps}
	switch {
	case quiet:
		s.Level = human.Quiet
	case o.Verbose:
		s.Level = human.Verbose
	}
	return s
}

// onStderr does so on standard error. Where it is a terminal, and other runs write
// to it too, lines name the run.
func (out *output) onStderr(w io.Writer) *human.Sink {
	fd := int(os.Stderr.Fd())
	s := out.forPerson(w, out.o.Quiet)
	s.EndLine = out.line.End
	s.Holds = out.o.Process.Stderr == stdio.OnFailure
	s.Color = colored(string(out.o.Color), fd)
	if os.Getenv("TERM") == "dumb" || !term.IsTerminal(fd) {
		return s
	}
	shared := proc.OpenScreen(fd)
	s.Screen = &screen{shared, out.signals, fd}
	if out.o.Name == "" {
		s.Name = func() string {
			if shared.Crowded() {
				return engine.NameOf(out.o.Command)
			}
			return ""
		}
	}
	return s
}

// colored reports whether lines for a person are coloured: on a terminal that
// can, unless the user has set NO_COLOR (no-color.org).
func colored(when string, fd int) bool {
	switch when {
	case "auto":
		return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(fd) && proc.ShowsColors(fd)
	case "always":
		proc.ShowsColors(fd)
	}
	return when == "always"
}

// screen is standard error where it is a terminal that can be redrawn.
type screen struct {
	*proc.Screen
	*proc.Signals
	fd int
}

// Size has no columns in a background job, which does not draw on the terminal of the
// job in the foreground.
func (s *screen) Size() (columns, rows int) {
	if !proc.ForegroundTerminal() {
		return 0, 0
	}
	columns, rows, _ = term.GetSize(s.fd)
	if columns <= 0 {
		columns = manual.Width
	}
	return columns, rows
}

// Status reports whether the terminal edits lines itself, so that no program draws a
// screen of its own.
func (s *screen) Status() bool { return stdio.EditsLines(s.fd) }
