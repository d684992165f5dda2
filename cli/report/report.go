package report

// This file is --report: what the history says about each command.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Report is --report.
type Report struct {
	Flags
	Since  time.Duration        `variable:"no"`
	By     option.Word[groups]  `variable:"no"`
	Format option.Word[formats] `variable:"no"`
	Top    option.Limit         `variable:"no"`

	*history.Report `kong:"-"`

	left int // groups that are not shown
}

type (
	groups  struct{}
	formats struct{}
)

func (groups) Words() []string  { return []string{"name", "command", "key", "policy", "commit"} }
func (formats) Words() []string { return []string{"text", "markdown", "html", "json"} }

// NewReport returns --report with its defaults.
func NewReport() *Report {
	return &Report{
		Flags: Flags{Common: mode.Defaults()}, Since: 7 * 24 * time.Hour, By: "name", Format: "text", Top: 20,
	}
}

// Run prints the report.
func (r *Report) Run() int {
	format := r.Format
	if format == "text" && r.JSON() {
		format = "json"
	}
	err := r.find(r.Words)
	if err != nil {
		return r.Fail(err)
	}
	r.Report = history.NewReport(now(), r.Since, string(r.By))
	if r.BadLines, err = r.runs(r.Add); err != nil {
		return r.Fail(err)
	}
	r.left = r.Finish(int(r.Top)) - len(r.Groups)
	code := exitcodes.OK
	if r.Runs == 0 {
		if format == "text" {
			r.badLines(r.BadLines)
			return r.none("no run to report" + r.period())
		}
		code = exitcodes.Rejected
	}
	switch format {
	case "json":
		return r.PrintJSON(code, r.Report)
	case "markdown":
		r.markdown()
	case "html":
		r.html()
	default:
		r.text()
	}
	return code
}

// period says of which time the report is.
func (r *Report) period() string {
	if r.Report.Since == nil {
		return ""
	}
	const day = 24 * time.Hour
	if r.Since%day == 0 && r.Since > day {
		return fmt.Sprintf(" in the last %d days", r.Since/day)
	}
	return " in the last " + message.Limit(r.Since)
}

// byAttempt are the successes by the number of their attempt, the first first.
func (r *Report) byAttempt() (parts []string) {
	for _, n := range slices.Sorted(maps.Keys(r.SuccessByAttempt)) {
		parts = append(parts, fmt.Sprintf("%d at attempt %d", r.SuccessByAttempt[n], n))
	}
	const most = 8
	if len(parts) > most {
		parts = append(parts[:most], "...")
	}
	return parts
}

// sentences are the figures of the whole.
func (r *Report) sentences() []string {
	all := []string{fmt.Sprintf("%s%s: %d succeeded at attempt 1, %d after a failure, %d gave up.",
		text.Count(r.Runs, "run", "runs"), r.period(), r.FirstAttempt, r.Recovered, r.GaveUp)}
	if r.Cancelled+r.Refused > 0 {
		all = append(all, fmt.Sprintf("Cancelled: %d, refused: %d.", r.Cancelled, r.Refused))
	}
	if len(r.SuccessByAttempt) > 1 {
		all = append(all, "Successes: "+strings.Join(r.byAttempt(), ", ")+".")
	}
	if r.FailedMS+r.SleptMS > 0 {
		all = append(all,
			fmt.Sprintf("Lost: %s in failed attempts, %s in waits (%s scheduled).",
				message.Duration(milliseconds(r.FailedMS)), message.Duration(milliseconds(r.SleptMS)),
				message.Duration(milliseconds(r.JitteredMS))))
	}
	if r.Rehearsed+r.Nested > 0 {
		all = append(all, fmt.Sprintf("Not counted: %d rehearsed, %d nested.", r.Rehearsed, r.Nested))
	}
	if r.BadLines > 0 { // begins with a number
		all = append(all, skipped(r.BadLines)+".")
	}
	if r.left > 0 {
		all = append(all, fmt.Sprintf("%d more are not shown; --top 0 shows all.", r.left))
	}
	return all
}

// describe puts a warning into words.
func describe(w history.Warning) string {
	text := "%.1f %% of the runs waited for more than 5 s (limit %.0f %%)."
	switch w.Kind {
	case "retried":
		text = "%.1f %% of the runs were retried (limit %.0f %%): retries hide failures."
	case "second_attempt":
		text = "%.1f %% of the second attempts succeeded (limit %.0f %%): most failures do not pass by themselves."
	}
	return fmt.Sprintf(text, w.Value*percent, w.Limit*percent)
}

// header is what stands above the columns in Markdown and HTML: name, class, figures, spark
// line.
func (r *Report) header() []string {
	header := []string{string(r.By), classColumn.heading}
	for _, c := range figures() {
		header = append(header, c.heading)
	}
	return append(header, sparkColumn.heading)
}

// named is what a group is called in a table.
func (r *Report) named(g *history.Group) string {
	if g.Name == "" {
		return "(no " + string(r.By) + ")"
	}
	return message.Printable(g.Name)
}
