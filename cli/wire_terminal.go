package cli

// This file is the terminal that a person reads.

import (
	"os"

	"golang.org/x/term"

	"github.com/retrysh/retry/cli/human"
	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/proc"
)

// onStderr says how to tell a person on standard error. Where that is a terminal,
// and other runs write to it too, lines name the run.
func (out *output) onStderr(o *option.Options) human.Options {
	options := human.Options{
		Level: level(o.Quiet, o.Verbose), Color: colored(o.Color), Name: func() string { return o.Name }, Timestamps: o.Timestamps,
	}
	fd := int(os.Stderr.Fd())
	if os.Getenv("TERM") == "dumb" || !term.IsTerminal(fd) {
		return options
	}
	shared := proc.OpenScreen(fd)
	options.Screen = &screen{fd: fd, Screen: shared, out: out}
	if o.Name == "" {
		options.Name = func() string {
			if shared.Crowded() {
				return engine.NameOf(o.Command)
			}
			return ""
		}
	}
	return options
}

// screen is standard error where it is a terminal that can be redrawn.
type screen struct {
	*proc.Screen
	fd  int
	out *output
}

// Width returns 0 in a background job: it does not draw on the terminal of the one
// in front.
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
	_, height, err := term.GetSize(s.fd)
	if err != nil {
		return 0
	}
	return height
}

// Status reports whether the lines on the terminal are its own to edit, so that no
// program draws a screen of its own.
func (s *screen) Status() bool { return proc.EditsLines(s.fd) }

// Claim also has what is drawn taken away before the program is stopped.
func (s *screen) Claim() bool {
	if !s.Screen.Claim() {
		return false
	}
	s.out.signals.OnStop(s.out.person.Hide, s.out.person.Unhide)
	return true
}
