package report

// This file is --learn: rule blocks with their evidence.

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// LearnFlags is the grammar of --learn.
type LearnFlags struct {
	mode.Common
	Where
	Files []string `arg:"" optional:""`
}

// Learn is --learn.
func Learn(c mode.Call) int {
	var g LearnFlags
	if err := mode.Parse(c, &g); err != nil {
		return c.Usage(err)
	}
	sources, path, err := g.sources(&c, g.Files)
	if err != nil {
		return c.Fail(err)
	}
	learner := history.NewLearner(now())
	bad, err := history.Runs(sources, learner.Add)
	if err != nil {
		return c.Fail(err)
	}
	lessons, code := learner.Lessons(), exitcodes.Rejected
	for _, l := range lessons {
		if l.Verdict != "" {
			code = exitcodes.OK
		}
	}
	if g.JSON() {
		return c.Print(code, func(w *os.File) error { return text.WriteJSON(w, map[string]any{"lessons": lessons, "bad_lines": bad}) })
	}
	badLines(&c, bad)
	if code != exitcodes.OK {
		return none(&c, sources, path, "no failure has a certain answer")
	}
	return c.Print(code, func(w *os.File) error { return blocks(w, lessons) })
}

// blocks prints the rules that are suggested, each under its evidence.
func blocks(w io.Writer, lessons []*history.Lesson) error {
	var b strings.Builder
	for _, l := range lessons {
		if l.Rule == "" {
			continue
		}
		fmt.Fprintf(&b, "# %s\n# %s\n%s\n", message.Printable(l.FP), evidence(l), l.Rule)
	}
	if b.Len() == 0 {
		b.WriteString("# Nothing new: the rules say already what is certain.\n")
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n\n")+strings.Repeat("\n", min(1, strings.Count(b.String(), "\n\n"))))
	return err
}

// evidence says on what a rule rests.
func evidence(l *history.Lesson) string {
	const percent = 100
	evidence := fmt.Sprintf("%d of %d runs recovered (90 %% interval of the share: %.0f to %.0f %%)", l.Recovered, l.Recovered+l.NotRecovered, percent*l.Low, percent*l.High)
	for _, more := range []struct {
		n    int
		text string
	}{{l.Censored, "%d ended before an answer"}, {l.CommonMode, "%d are not counted, since other names failed in the same hour"}} {
		if more.n > 0 {
			evidence += "; " + fmt.Sprintf(more.text, more.n)
		}
	}
	evidence += fmt.Sprintf("; in %d days", l.Days)
	if l.Commits > 0 {
		evidence += fmt.Sprintf(" and %d commits", l.Commits)
	}
	if l.RecoveryP50 != nil && l.Verdict == event.Transient {
		evidence += fmt.Sprintf("; recovery took %s in half of them and %s in 90 %%", message.Duration(milliseconds(*l.RecoveryP50)), message.Duration(milliseconds(*l.RecoveryP90)))
	}
	if l.GivenP50 != nil && l.Verdict == event.Permanent {
		evidence += fmt.Sprintf("; half of them were given %s or more", message.Duration(milliseconds(*l.GivenP50)))
	}
	return evidence
}
