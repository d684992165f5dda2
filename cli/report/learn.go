package report

// This file is --learn: rule blocks with their evidence.

import (
	"fmt"
	"strings"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/exitcodes"
)

// Learn is --learn.
type Learn struct{ Flags }

// NewLearn returns --learn with its defaults.
func NewLearn() *Learn { return &Learn{Flags{Common: mode.Defaults()}} }

// Run prints the rules that are suggested.
func (g *Learn) Run() int {
	if err := g.find(g.Words); err != nil {
		return g.Fail(err)
	}
	learner := history.NewLearner(now())
	bad, err := g.runs(learner.Add)
	if err != nil {
		return g.Fail(err)
	}
	lessons := learner.Lessons()
	code := exitcodes.Rejected
	for _, l := range lessons {
		if l.Verdict != "" {
			code = exitcodes.OK
		}
	}
	if g.JSON() {
		return g.PrintJSON(code, map[string]any{"lessons": lessons, "bad_lines": bad})
	}
	g.badLines(bad)
	if code != exitcodes.OK {
		return g.none("no failure has a certain answer")
	}
	g.Print(blocks(lessons))
	return code
}

// blocks are the rules, each under its evidence.
func blocks(lessons []*history.Lesson) string {
	var all []string
	for _, l := range lessons {
		if l.Rule != "" {
			all = append(all, fmt.Sprintf("# %s\n# %s\n%s", message.Printable(l.FP), evidence(l), l.Rule))
		}
	}
	if all == nil {
		return "# Nothing new: the rules say already what is certain.\n"
	}
	return strings.Join(all, "\n")
}

// evidence says on what a rule rests.
func evidence(l *history.Lesson) string {
	return fmt.Sprintf("%d of %d runs recovered (95 %% interval of the share: %.0f to %.0f %%)", l.Recovered,
		l.Recovered+l.NotRecovered, percent*l.Low, percent*l.High)
}
