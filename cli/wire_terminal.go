package cli

// This file writes for a person, and draws on the terminal.

import (
	"os"

	"golang.org/x/term"

	"github.com/retrysh/retry/cli/human"
	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/proc"
)

// forPerson says how events are written for a person.
func (out *output) forPerson(quiet bool) human.Options {
	o := out.o
	options := human.Options{Name: func() string { return o.Name }, Timestamps: o.Timestamps}
	switch {
	case quiet:
		options.Level = human.Quiet
	case o.Verbose:
		options.Level = human.Verbose
	}
	return options
}

// onStderr is that for standard error. Where it is a terminal, and other runs write
// to it too, lines name the run.
func (out *output) onStderr() human.Options {
	fd := int(os.Stderr.Fd())
	options := out.forPerson(out.o.Quiet)
	options.Color = colored(out.o.Color, fd)
	if os.Getenv("TERM") == "dumb" || !term.IsTerminal(fd) {
		return options
	}
	shared := proc.OpenScreen(fd)
	options.Screen = &screen{fd: fd, Screen: shared, out: out}
	if out.o.Name == "" {
		options.Name = func() string {
			if shared.Crowded() {
				return engine.NameOf(out.o.Command)
			}
			return ""
		}
	}
	return options
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
	fd  int
	out *output
}

// Width returns 0 in a background job, which does not draw on the terminal of the job
// in the foreground.
func (s *screen) Width() int {
	if !proc.ForegroundTerminal() {
		return 0
	}
	if width, _, err := term.GetSize(s.fd); err == nil && width > 0 {
		return width
	}
	return manual.Width
}

// Height is the number of rows, 0 where it cannot be known.
func (s *screen) Height() int {
	_, height, _ := term.GetSize(s.fd)
	return max(height, 0)
}

// Status reports whether the terminal edits lines itself, so that no program draws a
// screen of its own.
func (s *screen) Status() bool { return proc.EditsLines(s.fd) }

// Claim also has what is drawn erased before the program is stopped.
func (s *screen) Claim() bool {
	claimed := s.Screen.Claim()
	if claimed {
		s.out.signals.OnStop(s.out.person.Hide, s.out.person.Unhide)
	}
	return claimed
}
