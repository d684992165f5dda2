package cli

// This file writes for a person, and draws on the terminal.

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/retrysh/retry/cli/human"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/engine/text"
)

// forPerson writes events for a person.
func (out *output) forPerson(w io.Writer, quiet bool) *human.Sink {
	o := out.o
	s := &human.Sink{W: w, Run: &out.run, Name: out.label, Timestamps: o.Timestamps}
	switch {
	case quiet:
		s.Level = human.Quiet
	case o.Verbose:
		s.Level = human.Verbose
	}
	return s
}

// onStderr does so on standard error. Lines name the run if it was given a name, if other
// runs write to the same terminal, or if it was started beside others.
func (out *output) onStderr(w io.Writer) *human.Sink {
	fd := int(os.Stderr.Fd())
	s := out.forPerson(w, out.o.Quiet)
	s.EndLine = out.line.End
	s.Holds = out.o.Process.Stderr == stdio.OnFailure
	s.Color = colored(string(out.o.Color), fd)
	s.Journal = stdio.IsJournal(fd)
	crowded := func() bool { return false }
	if os.Getenv("TERM") != "dumb" && term.IsTerminal(fd) {
		shared := proc.OpenScreen(fd)
		s.Screen = &screen{shared, out.signals, fd}
		crowded = shared.Crowded
	}
	beside := sync.OnceValue(startedBesideOthers)
	if out.o.Name == "" {
		s.Name = func() string {
			if crowded() || beside() {
				return out.label()
			}
			return ""
		}
	}
	return s
}

// label is what lines call the run: its name, or the command's with the beginning of the
// run's id.
func (out *output) label() string {
	const digits = 4
	if out.o.Name != "" {
		return string(out.o.Name)
	}
	return text.Masked(engine.NameOf(out.o.Command)) + "#" + out.id[:digits]
}

// startedBesideOthers reports whether the run was started by what starts several side by side: make
// with a jobserver (GNU make, "POSIX Jobserver Interaction"), GNU parallel, or xargs.
func startedBesideOthers() bool {
	if strings.Contains(os.Getenv("MAKEFLAGS"), "--jobserver-") || os.Getenv("PARALLEL_PID") != "" {
		return true
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getppid())) // proc(5), on Linux alone
	return err == nil && string(name) == "xargs\n"
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

// screen is standard error if it is a terminal that can be redrawn.
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
	// A terminal without a size has nobody before it: docker run -t without -i, or ssh -tt
	// from a job.
	columns, rows, _ = term.GetSize(s.fd)
	return max(columns, 0), max(rows, 0)
}

// Status reports whether the terminal edits lines itself, so that no program draws a
// screen of its own.
func (s *screen) Status() bool { return stdio.EditsLines(s.fd) }

// Raw reports whether a line needs a carriage return.
func (s *screen) Raw() bool { return stdio.TakesLineFeeds(s.fd) }
