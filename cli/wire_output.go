package cli

// This file opens what the events of a run are written to: standard error, a log file,
// the files that a CI job offers, and telemetry.

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/retrysh/retry/cli/human"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/engine/sink"
	"github.com/retrysh/retry/engine/telemetry"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// output is every sink of a run, and what the program itself has to say.
type output struct {
	o       *option.Options
	signals *proc.Signals
	id      string    // of the run
	run     event.Run // has each event before the sinks
	sinks   []func(event.Event)
	warning func(line string) // writes one on standard error, in its format
	person  *human.Sink       // nil if standard error is for a machine
	// inherits says that a person has to know of a used up input, and hadInput that
	// there was some before attempt 1.
	inherits, hadInput bool
	lines              *stdio.Lines // standard error
	line               *stdio.Line  // of what is written there
	tailLost           bool         // a hook has not got the last output
	ciLog              bool         // standard error is the log of a CI job, and --quiet was not given
}

// channel is a writer whose first error is reported.
type channel struct {
	io.Writer
	report func(error) // nil from then on
}

func (c *channel) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if report := c.report; err != nil && report != nil {
		c.report = nil
		report(err)
	}
	return n, err
}

// onNewLine is standard error for lines that begin on a new line.
type onNewLine struct {
	io.Writer
	line *stdio.Line
}

func (w *onNewLine) Write(p []byte) (int, error) {
	if !w.line.End() {
		return w.Writer.Write(p)
	}
	n, err := w.Writer.Write(append([]byte{'\n'}, p...))
	return max(n-1, 0), err
}

// newOutput opens what the run writes to. --quiet is about standard error, not about a
// log file. One that cannot be opened is reported, and the command runs.
func newOutput(o *option.Options, signals *proc.Signals) *output {
	out := &output{
		o: o, signals: signals, id: engine.NewRunID(rand.Uint64), line: &stdio.Line{},
		inherits: o.Process.Stdin == stdio.Inherit && !o.Quiet,
	}
	out.lines = stdio.NewLines(signals.IsEnding)
	format := o.EventFormat
	if format == "auto" {
		format = jobFormat()
	}
	if format == "text" || o.LogFile != "" {
		out.person = out.onStderr(out.lines)
		out.sinks = append(out.sinks, out.person.Emit)
		out.warning = func(line string) { out.person.Print(human.Quiet, line) }
	} else {
		out.warning = out.toMachine(format, &onNewLine{out.lines, out.line}, o.Quiet)
		out.ciLog = format != "json" && !o.Quiet
	}
	if o.LogFile == "" {
		return out
	}
	file, err := openLog(string(o.LogFile))
	if err != nil {
		out.warn("no log is kept: " + err.Error())
		return out
	}
	w := &channel{file, func(err error) { out.warn("the log is incomplete: " + err.Error()) }}
	if format == "text" {
		out.sinks = append(out.sinks, out.forPerson(w, false).Emit)
	} else {
		out.toMachine(format, w, false)
	}
	return out
}

// logPatience is how long a reader of the log may keep a line waiting.
const logPatience = time.Second

// logFile is the log. It is closed if it cannot take a line in time.
type logFile struct{ *os.File }

// openLog opens the log for appending. It never holds up the run: a pipe without a
// reader is refused, and one whose reader is stuck is given up. If the log is named as the
// program's own standard output or error, and that is a regular file, that descriptor is
// used: one of the log's own would not share the offset of the command's writes (open(2)).
func openLog(name string) (io.Writer, error) {
	for _, own := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := own.Stat(); name == own.Name() && err == nil && info.Mode().IsRegular() {
			return own, nil
		}
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o666)
	if errors.Is(err, syscall.ENXIO) {
		return nil, noReader(name)
	}
	if err != nil {
		return nil, err
	}
	return logFile{file}, nil
}

// noReader says what ENXIO means: a FIFO has no reader (open(2), O_NONBLOCK), a device
// does not exist, as /dev/tty in a process without a terminal (tty(4)).
func noReader(name string) error {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.Mode()&os.ModeNamedPipe != 0:
		return fmt.Errorf("the pipe %q has no reader", name)
	case name == "/dev/tty":
		return fmt.Errorf("%q: there is no terminal", name)
	}
	return fmt.Errorf("%q: no such device, or no listener", name)
}

func (l logFile) Write(line []byte) (int, error) {
	_ = l.SetWriteDeadline(time.Now().Add(logPatience)) // plain files need none and have none
	n, err := l.File.Write(line)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = l.Close()
	}
	return n, err
}

// toMachine adds a sink for machines, and returns what writes a warning there.
func (out *output) toMachine(format string, w io.Writer, quiet bool) (warning func(string)) {
	var emit func(event.Event)
	switch format {
	case "github":
		g := sink.NewGitHub(w, sink.CIOptions{Quiet: quiet}, out.gitHubFiles(), &out.run)
		emit, warning = g.Emit, g.Warn
	case "gitlab":
		plain := out.o.Color == "never" || out.o.Color == "auto" && os.Getenv("NO_COLOR") != ""
		g := sink.NewGitLab(w, sink.CIOptions{Quiet: quiet, Plain: plain}, &out.run)
		emit, warning = g.Emit, g.Warn
	default:
		emit = sink.NewJSON(w).Emit
		warning = func(line string) { io.WriteString(w, "retry: "+message.Printable(line)+"\n") }
	}
	out.sinks = append(out.sinks, emit)
	return warning
}

// jobFormat is the log format of the CI job, by the variable that its system sets.
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
			return &channel{jobFile(name), func(err error) {
				out.warn("cannot write the summary or outputs of the step: " + err.Error())
			}}
		}
		return nil
	}
	return sink.GitHubFiles{Summary: offered("GITHUB_STEP_SUMMARY"), Output: offered("GITHUB_OUTPUT")}
}

// jobFile is a file that other steps of a CI job append to as well.
type jobFile string

// Write appends p, on a new line if the last one has no end.
func (name jobFile) Write(p []byte) (int, error) {
	file, err := os.OpenFile(string(name), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return 0, err
	}
	before := 0
	if end, err := file.Seek(-1, io.SeekEnd); err == nil {
		last := make([]byte, 1)
		if n, _ := file.ReadAt(last, end); n == 1 && last[0] != '\n' {
			p = append([]byte{'\n'}, p...)
			before = 1
		}
	}
	n, err := file.Write(p)
	return n - before, errors.Join(err, file.Close())
}

// emit passes an event to every sink. It also warns if attempt 2 has no input left to
// read, and tells a person what was probably meant by a run that failed.
func (out *output) emit(e event.Event) {
	out.run.Add(e)
	if started, is := e.(*event.RunStarted); is {
		out.signals.EndsAt(started.Deadline) // before a line that a stuck reader may leave
	}
	for _, emit := range out.sinks {
		emit(e)
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
			out.warn("attempt 1 has used up standard input; --stdin replay gives every attempt the same")
		}
	case *event.RunFinished:
		if hint := out.hint(e); hint != "" {
			out.warn(hint)
		}
	}
}

// hint is what was probably meant by a run that failed, "" for nothing.
func (out *output) hint(e *event.RunFinished) string {
	switch {
	case e.Worked() || out.person == nil:
	case e.NotStarted && (e.ExitCode == exitcodes.NotFound || !strings.Contains(out.o.Command[0], "/")):
		return notFoundHint(out.o)
	case out.o.Quiet:
	case slices.Contains([]event.Outcome{event.Exhausted, event.Stopped, event.Deadline}, e.Outcome):
		return failedHint(out.o, e.ExitCode)
	}
	return ""
}

// keepTails puts the end of each output into a file for a hook, which only this user may
// read; nil is an output that was not captured. If that fails, the hook runs without it,
// and one warning says so.
func (out *output) keepTails(stdout, stderr []byte) (env []string, remove func()) {
	var names []string
	variables := []string{"RETRY_TAIL_STDOUT=", "RETRY_TAIL_STDERR="}
	for i, data := range [][]byte{stdout, stderr} {
		if data == nil {
			continue
		}
		f, err := os.CreateTemp("", "retry-tail-")
		if err == nil {
			names = append(names, f.Name())
			_, err = f.Write(data)
			err = errors.Join(err, f.Close())
		}
		switch {
		case err == nil:
			env = append(env, variables[i]+f.Name())
		case !out.tailLost:
			out.tailLost = true
			out.warn("cannot store the last output for a hook: " + err.Error())
		}
	}
	return env, func() {
		for _, name := range names {
			_ = os.Remove(name)
		}
	}
}

// What the program says beside the events is a detail, an info or a warning.

// detail writes a line of verbose mode.
func (out *output) detail(line string) {
	if out.person != nil {
		out.person.Print(human.Verbose, line)
	}
}

// info writes a line that --quiet silences, and that machines get by events.
func (out *output) info(line string) {
	switch {
	case out.person != nil:
		out.person.Print(human.Normal, line)
	case out.ciLog:
		out.warning(line)
	}
}

// warn reports a failure of the program's own; --quiet does not silence it.
func (out *output) warn(line string) { out.warning(text.Masked(line)) }

// telemetryMargin is added to the limit of the collector: the locks of the metrics file
// and the look-up of a server's name may take longer than that.
const telemetryMargin = 6 * time.Second

func (w *wiring) addTelemetry() {
	c := w.o.Telemetry
	if c.MetricsFile == "" && c.OTLP == "" && c.StatsD == (telemetry.StatsD{}) || w.o.Exec {
		return
	}
	c.Lookup = os.Getenv
	c.Detail = w.out.detail
	c.Warn = func(string) {}
	if !w.o.Quiet {
		c.Warn = w.out.warn
	}
	t := telemetry.New(c, &w.out.run)
	w.out.sinks = append(w.out.sinks, t.Emit)
	w.e.Close = t.Send
	w.e.CloseLimit = c.OTLPTimeout + telemetryMargin
}
