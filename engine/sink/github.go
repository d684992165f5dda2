package sink

// This file writes for GitHub Actions: workflow commands in the log, a table in
// the step's summary, outputs of the step.

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
)

// GitHubFiles are the files that the runner offers to a step, nil if it
// does not. Each is written once, at the end of the run, in one write.
type GitHubFiles struct {
	Summary io.Writer // GITHUB_STEP_SUMMARY
	Output  io.Writer // GITHUB_OUTPUT
}

// GitHub is a sink for the log of a GitHub Actions step: each attempt is a
// group, each failed one a warning, the end an error if it failed. At the
// end it writes the attempts as a table, unless the first succeeded, and the
// outputs attempts, outcome, exit_code, timed_out and reason.
type GitHub struct {
	*ci
	files GitHubFiles
}

// NewGitHub returns a sink that writes to w, of a run whose record has each event before it.
func NewGitHub(w io.Writer, options CIOptions, files GitHubFiles, run *event.Run) *GitHub {
	return &GitHub{ci: newCI(w, options, workflowCommands{}, run), files: files}
}

// Emit writes one event.
func (s *GitHub) Emit(e event.Event) {
	s.ci.Emit(e)
	if e, ended := e.(*event.RunFinished); ended {
		if e.Attempts > 1 || e.Outcome != event.Succeeded {
			s.append(s.files.Summary, s.table(e))
		}
		s.append(s.files.Output, s.outputs(e))
	}
}

// longestReason is how many characters of a reason are an output.
const longestReason = 300

// outputs are lines of NAME=VALUE, each value in one line. The reason is that of the last
// attempt, and of a run that was refused also which guard has done it.
func (s *GitHub) outputs(e *event.RunFinished) string {
	why := e.Reason
	if e.Outcome == event.Refused {
		why = e.Whole()
	}
	reason := []rune(inert(text.Masked(why)))
	reason = reason[:min(len(reason), longestReason)]
	return fmt.Sprintf("attempts=%d\noutcome=%s\nexit_code=%d\ntimed_out=%t\nreason=%s\n",
		e.Attempts, e.Outcome, e.ExitCode, s.timedOut(), string(reason))
}

func (s *GitHub) append(w io.Writer, text string) {
	if w != nil {
		_, _ = io.WriteString(w, text)
	}
}

// mostRows bounds the table: the runner refuses a summary above 1 MiB
// (actions/runner, CreateStepSummaryCommand), and attempts may be unlimited.
const mostRows = 200

// row is an attempt, or a copy of one, in the table.
func row(t *event.Try) string {
	result := "succeeded"
	if !t.Success {
		result = inert(t.Reason + message.Ruled(t.Rule, t.ByRule))
	}
	number := strconv.Itoa(t.Attempt)
	if t.Hedged {
		number += ", copy " + strconv.Itoa(t.Copy)
	}
	return fmt.Sprintf("| %s | %s | %s |\n", number, literal(result), message.Duration(t.Result.Duration))
}

// timedOut reports whether the last attempt ended by its own limit.
func (s *GitHub) timedOut() bool {
	judged := s.judged()
	return len(judged) > 0 && judged[len(judged)-1].Result.TimedOut
}

// judged are the attempts that are known, without the copies that lost.
func (s *GitHub) judged() []event.Try {
	return slices.DeleteFunc(slices.Clone(s.narrator.Run.Tries), func(t event.Try) bool { return t.Lost })
}

// table is the summary, in Markdown.
func (s *GitHub) table(e *event.RunFinished) string {
	var b strings.Builder
	end, _ := message.End(e)
	fmt.Fprintf(&b, "\n**retry** %s\n\n", literal(inert(end)))
	judged := s.judged()
	if len(judged) == 0 {
		return b.String()
	}
	if len(judged) > mostRows {
		judged = judged[len(judged)-mostRows:]
		fmt.Fprintf(&b, "The last %d attempts:\n\n", mostRows)
	}
	b.WriteString("| attempt | result | time |\n| ---: | --- | ---: |\n")
	for i := range judged {
		b.WriteString(row(&judged[i]))
	}
	return b.String()
}

// literal makes text mean itself in Markdown: a character reference is never
// taken for markup (CommonMark 0.31, 2.5), so links, images, HTML and the ends
// of table cells are all just text.
func literal(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// workflowCommands are "::name key=value::data" lines.
type workflowCommands struct{}

func (workflowCommands) fold(_ *event.Header, title string) string {
	return command("group", "", title)
}
func (workflowCommands) unfold(*event.Header) string { return command("endgroup", "", "") }

func (workflowCommands) warning(title, text string) string { return command("warning", title, text) }
func (workflowCommands) failure(title, text string) string { return command("error", title, text) }
func (workflowCommands) notice(title, text string) string  { return command("notice", title, text) }

// The escapes that the runner undoes: in data, and in a property, which ends
// at a comma or a colon (actions/toolkit, packages/core/src/command.ts).
var (
	escapeData     = []string{"%", "%25", "\r", "%0D", "\n", "%0A"}
	escapeProperty = []string{"%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C"}
)

func command(name, title, data string) string {
	if title != "" {
		name += " title=" + strings.NewReplacer(escapeProperty...).Replace(title)
	}
	return "::" + name + "::" + strings.NewReplacer(escapeData...).Replace(data) + "\n"
}
