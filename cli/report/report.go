package report

// This file is --report: what the history says about each command.

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/exitcodes"
)

// Report is --report.
type Report struct {
	Flags
	Since  string     `default:"7d" variable:"-"`
	By     string     `default:"name" enum:"name,command,key,policy,commit" variable:"-"`
	Format string     `default:"text" enum:"text,markdown,html,json,csv" variable:"-"`
	Top    mode.Limit `default:"20" variable:"-"`
}

// document is a report that is to be printed.
type document struct {
	*history.Report
	by   string
	left int           // groups that are not shown
	ages time.Duration // of the oldest run, as it was asked for
}

// Run prints the report.
func (g *Report) Run() int {
	since, err := backoff.ParseDuration(g.Since)
	if err != nil {
		return g.Usage(fmt.Errorf("--since: %w", err))
	}
	format := g.Format
	if format == "text" && g.JSON() {
		format = "json"
	}
	if err := g.find(g.Words); err != nil {
		return g.Fail(err)
	}
	d := document{by: g.By, ages: since}
	d.Report = history.NewReport(now(), since, g.By)
	if d.BadLines, err = history.Runs(g.sources, d.Add); err != nil {
		return g.Fail(err)
	}
	d.left = d.Finish(int(g.Top)) - len(d.Groups)
	code := exitcodes.OK
	if d.Runs == 0 {
		if format == "text" {
			g.badLines(d.BadLines)
			return g.none("no run to report" + d.period())
		}
		code = exitcodes.Rejected
	}
	switch format {
	case "json":
		return g.PrintJSON(code, d.Report)
	case "csv":
		d.csv(&g.Out)
	case "markdown":
		d.markdown(&g.Out)
	case "html":
		d.html(&g.Out)
	default:
		d.text(&g.Out, g.Width(), g.Colored())
	}
	return code
}

// period says of which time the report is.
func (d *document) period() string {
	if d.Since == nil {
		return ""
	}
	const day = 24 * time.Hour
	if d.ages%day == 0 && d.ages > day {
		return fmt.Sprintf(" in the last %d days", d.ages/day)
	}
	return " in the last " + message.Limit(d.ages)
}

// csv writes a line for each group. No cell of a name begins as a formula does.
func (d *document) csv(w *bytes.Buffer) {
	rows := [][]string{{"group", "class", "runs", "first_attempt", "recovered", "gave_up", "retried", "wilson_low", "lost_ms"}}
	for _, g := range d.Groups {
		name := message.Printable(g.Name)
		if strings.IndexAny(strings.TrimLeft(name, " "), "=+-@") == 0 {
			name = "'" + name
		}
		row := []string{name, g.Class}
		for _, n := range []int{g.Runs, g.FirstAttempt, g.Recovered, g.GaveUp, g.Retried} {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, append(row, strconv.FormatFloat(g.WilsonLow, 'f', 6, 64), strconv.FormatFloat(g.LostMS, 'f', -1, 64)))
	}
	_ = csv.NewWriter(w).WriteAll(rows)
}

// byAttempt are the successes by the number of their attempt, the first first.
func (d *document) byAttempt() (parts []string) {
	for _, n := range slices.Sorted(maps.Keys(d.SuccessByAttempt)) {
		parts = append(parts, fmt.Sprintf("%d at attempt %d", d.SuccessByAttempt[n], n))
	}
	const most = 8
	if len(parts) > most {
		parts = append(parts[:most], "...")
	}
	return parts
}

// sentences are the figures of the whole.
func (d *document) sentences() []string {
	all := []string{fmt.Sprintf("%s%s: %d succeeded at attempt 1, %d after a failure, %d gave up.", count(d.Runs, "run"), d.period(), d.FirstAttempt, d.Recovered, d.GaveUp)}
	if d.Cancelled+d.Refused > 0 {
		all = append(all, fmt.Sprintf("Cancelled: %d, refused: %d.", d.Cancelled, d.Refused))
	}
	if len(d.SuccessByAttempt) > 1 {
		all = append(all, "Successes: "+strings.Join(d.byAttempt(), ", ")+".")
	}
	if d.FailedMS+d.SleptMS > 0 {
		all = append(all, fmt.Sprintf("Lost: %s in failed attempts, %s in waits (%s scheduled).", message.Duration(milliseconds(d.FailedMS)), message.Duration(milliseconds(d.SleptMS)), message.Duration(milliseconds(d.JitteredMS))))
	}
	if d.Rehearsed+d.Nested > 0 {
		all = append(all, fmt.Sprintf("Not counted: %d rehearsed, %d nested.", d.Rehearsed, d.Nested))
	}
	if d.BadLines > 0 { // begins with a number
		all = append(all, skipped(d.BadLines)+".")
	}
	if d.left > 0 {
		all = append(all, fmt.Sprintf("%d more are not shown; --top 0 shows all.", d.left))
	}
	return all
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// describe puts a warning into words.
func describe(w history.Warning) string {
	const percent = 100
	value, limit := w.Value*percent, w.Limit*percent
	switch w.Kind {
	case "retried":
		return fmt.Sprintf("%.1f %% of the runs were retried (limit %.0f %%): retries hide failures.", value, limit)
	case "second_attempt":
		return fmt.Sprintf("%.1f %% of the second attempts succeeded (limit %.0f %%): most failures do not pass by themselves.", value, limit)
	}
	return fmt.Sprintf("%.1f %% of the runs waited for more than 5 s (limit %.0f %%).", value, limit)
}

// header are the columns of the table of groups. cells are those of a group, but for the
// first and the last.
func (d *document) header() []string {
	return []string{d.by, "class", "runs", "first attempt", "recovered", "gave up", "retried", "recovered at least", "lost", "failed attempts over time"}
}

func cells(g *history.Group) []string {
	const percent = 100
	return []string{
		g.Class, fmt.Sprint(g.Runs), fmt.Sprint(g.FirstAttempt), fmt.Sprint(g.Recovered), fmt.Sprint(g.GaveUp), fmt.Sprint(g.Retried),
		fmt.Sprintf("%.1f %%", g.WilsonLow*percent), message.Duration(milliseconds(g.LostMS)),
	}
}

// named is what a group is called in a table.
func (d *document) named(g *history.Group) string {
	if g.Name == "" {
		return "(no " + d.by + ")"
	}
	return message.Printable(g.Name)
}
