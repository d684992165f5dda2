package cli

// This file opens what a run tells its events to: standard error, a log file,
// and the files that a CI job is offered.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/retrysh/retry/cli/human"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/sink"
	"github.com/retrysh/retry/exitcodes"
)

// output is every sink of a run, and the program's own complaints.
type output struct {
	sinks   []engine.Sink
	tell    func(complaint string) // on standard error, in its format
	person  *human.Sink            // nil where standard error is for a machine
	logFile *logFile
	options *option.Options
	// inherits says that a person would have to know of a used up input, and
	// hadInput that there was some before attempt 1.
	inherits, hadInput bool
	signals            *proc.Signals
	tailLost           bool // a hook has not got the last output
	says               bool // standard error is the log of a CI job, and not to be quiet
}

// endable is w for a program that a signal ends also where w has no reader: signals
// are caught before the first byte.
func (out *output) endable(w io.Writer) io.Writer { return endable{w, out.signals.Notify} }

type endable struct {
	io.Writer
	catch func()
}

// Write is that of the writer within.
func (w endable) Write(p []byte) (int, error) {
	w.catch()
	return w.Writer.Write(p)
}

// newOutput opens what the run writes to. --quiet is about standard error: what
// has been asked for in a file is written there. A log file that cannot be opened is
// reported, and the command runs.
func newOutput(o *option.Options, signals *proc.Signals) *output {
	out := &output{signals: signals, options: o, inherits: o.Process.Stdin == proc.Inherit && !o.Quiet}
	format := o.EventFormat
	if format == "auto" {
		format = jobFormat()
	}
	if o.LogFile == "" {
		out.toStderr(format, o)
		return out
	}
	out.toStderr("text", o)
	file, err := openLog(o.LogFile)
	if err != nil {
		out.complain("no log is kept: %v", err)
		return out
	}
	out.logFile = file
	failed := func(err error) { out.complain("the log is incomplete: %v", err) }
	var s engine.Sink
	if w := out.endable(file); format == "text" {
		s = human.New(w, human.Options{Level: level(false, o.Verbose), Name: func() string { return o.Name }, Timestamps: o.Timestamps, Failed: failed})
	} else {
		s, _ = out.toMachine(format, w, false, failed)
	}
	out.sinks = append(out.sinks, s)
	return out
}

// toStderr writes events and complaints to standard error. Where that cannot be
// written, nothing can report it.
func (out *output) toStderr(format string, o *option.Options) {
	var s engine.Sink
	if w := out.endable(os.Stderr); format == "text" {
		out.person = human.New(w, out.onStderr(o))
		s, out.tell = out.person, out.person.Complain
	} else {
		s, out.tell = out.toMachine(format, w, o.Quiet, func(error) {})
		out.says = format != "json" && !o.Quiet
	}
	out.sinks = append(out.sinks, s)
}

// toMachine is the sink of a format for machines, and what writes a complaint there.
func (out *output) toMachine(format string, w io.Writer, quiet bool, failed func(error)) (engine.Sink, func(string)) {
	switch format {
	case "github":
		g := sink.NewGitHub(w, sink.CIOptions{Quiet: quiet, Failed: failed}, out.gitHubFiles())
		return g, g.Complain
	case "gitlab":
		g := sink.NewGitLab(w, sink.CIOptions{Quiet: quiet, Plain: plainLog(out.options.Color), Failed: failed})
		return g, g.Complain
	}
	return sink.NewJSON(w, failed), func(line string) { io.WriteString(w, "retry: "+message.Printable(line)+"\n") }
}

// jobFormat is the log format of the CI job that the program runs in, by the
// variable that each system sets for its jobs.
func jobFormat() string {
	switch {
	case os.Getenv("GITHUB_ACTIONS") == "true":
		return "github"
	case os.Getenv("GITLAB_CI") == "true":
		return "gitlab"
	}
	return "text"
}

// gitHubFiles are the files that the runner of GitHub Actions names.
func (out *output) gitHubFiles() sink.GitHubFiles {
	offered := func(variable string) io.Writer {
		if name := os.Getenv(variable); name != "" {
			return out.endable(appended(name))
		}
		return nil
	}
	return sink.GitHubFiles{
		Summary: offered("GITHUB_STEP_SUMMARY"), Output: offered("GITHUB_OUTPUT"),
		Failed: func(err error) { out.complain("cannot write the summary or outputs of the step: %v", err) },
	}
}

// appended is a file that every write opens and appends to.
type appended string

// Write appends p, on a line of its own where the last line has no end.
func (name appended) Write(p []byte) (int, error) {
	file, err := os.OpenFile(string(name), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return 0, err
	}
	written := p
	if end, err := file.Seek(-1, io.SeekEnd); err == nil {
		last := make([]byte, 1)
		if n, _ := file.ReadAt(last, end); n == 1 && last[0] != '\n' {
			written = append([]byte{'\n'}, p...)
		}
	}
	n, err := file.Write(written)
	n -= len(written) - len(p)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return n, err
}

// Emit tells every sink, and a person what was probably meant: where there was
// no command, and where attempt 2 has no input left to read.
func (out *output) Emit(e event.Event) {
	for _, s := range out.sinks {
		s.Emit(e)
	}
	switch e := e.(type) {
	case *event.AttemptStarted:
		if e.Attempt == 1 && e.MaxAttempts != 1 && out.inherits {
			out.hadInput, _ = proc.InputState()
		}
	case *event.RetryScheduled:
		if e.Attempt != 1 || !out.inherits {
			return
		}
		if _, ended := proc.InputState(); proc.InputUsedUp() || out.hadInput && ended {
			out.complain("attempt 1 has used up standard input; --stdin replay gives every attempt the same")
		}
	case *event.RunFinished:
		out.hint(e)
	}
}

// hint tells a person at the end what was probably meant.
func (out *output) hint(e *event.RunFinished) {
	if e.Worked() || out.person == nil {
		return
	}
	hint := ""
	switch {
	case e.NotStarted && e.ExitCode == exitcodes.NotFound:
		hint = notFoundHint(out.options)
	case out.options.Quiet:
	case slices.Contains([]event.Outcome{event.Exhausted, event.Stopped, event.Deadline}, e.Outcome):
		hint = failedHint(out.options, e.ExitCode)
	}
	if hint != "" {
		out.complain("%s", hint)
	}
}

// keepTail puts the last part of an output into a file for a hook. If that
// fails, the hook runs without it, and one warning says so.
func (out *output) keepTail(data []byte) (path string, remove func(), err error) {
	path, remove, err = keepTail(data)
	if err != nil && !out.tailLost {
		out.tailLost = true
		out.complain("cannot store the last output for a hook: %v", err)
	}
	return path, remove, err
}

// keepTail is that, in a file that only this user may read.
func keepTail(data []byte) (path string, remove func(), err error) {
	f, err := os.CreateTemp("", "retry-tail-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) }
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return f.Name(), remove, nil
}

// note tells a person something that is no trouble, in verbose mode.
func (out *output) note(line string) {
	if out.person != nil {
		out.person.Note(line)
	}
}

// complain tells of a trouble of the program's own; --quiet does not silence
// it.
func (out *output) complain(format string, args ...any) { out.tell(fmt.Sprintf(format, args...)) }

// say writes a line that --quiet silences, and that machines get by events.
func (out *output) say(format string, args ...any) {
	switch line := fmt.Sprintf(format, args...); {
	case out.person != nil:
		out.person.Say(line)
	case out.says:
		out.tell(line)
	}
}

// Close closes every sink, and the log file.
func (out *output) Close(ctx context.Context) error {
	var failed error
	for _, s := range out.sinks {
		failed = errors.Join(failed, s.Close(ctx))
	}
	if out.logFile != nil {
		failed = errors.Join(failed, out.logFile.Close())
	}
	return failed
}

// level is how much a person is told.
func level(quiet, verbose bool) human.Level {
	switch {
	case quiet:
		return human.Quiet
	case verbose:
		return human.Verbose
	}
	return human.Normal
}

// colored reports whether lines for a person are coloured: on a terminal that
// can, unless the user has set NO_COLOR (no-color.org).
func colored(when string) bool {
	switch when {
	case "auto":
		fd := int(os.Stderr.Fd())
		return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(fd) && proc.ShowsColors(fd)
	case "always":
		proc.ShowsColors(int(os.Stderr.Fd()))
		return true
	}
	return false
}

// plainLog reports whether a log that shows colours, and is no terminal, is to
// have none.
func plainLog(when string) bool {
	return when == "never" || when == "auto" && os.Getenv("NO_COLOR") != ""
}
