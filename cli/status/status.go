// Package status is the modes that look at runs from outside (docs/status.md) and
// reach them: --status, --wake, --cancel and --reset.
//
// It selects and prints what packages registry and store read. The caller provides the
// means to signal a process.
package status

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// allWord stands for every run.
const allWord = "all"

// shortID is how much of a run's id a table shows, leastID how much names a run.
const shortID, leastID = 8, 4

// matches reports whether a word names a run: by its whole name, or the first
// characters of its id.
func matches(e *registry.Entry, word string) bool {
	return word != "" && word == cmp.Or(e.GivenName, e.Name) ||
		len(word) >= leastID && strings.HasPrefix(e.RunID, strings.ToLower(word))
}

func list() []*registry.Entry { return registry.List(registry.Places(os.LookupEnv)) }

// Status is --status.
type Status struct {
	mode.Common
	storeFlags
	Key []option.Text `variable:"no"`
	// More is known of guards whose parameters are given.
	Breaker guard.Breaker
	Budget  guard.Budget
	Tokens  guard.Tokens
	// RateLimit has the burst that is shown.
	RateLimit guard.RateLimit
	Watch     bool `variable:"no"`

	store guard.Store // nil if no guards are asked for
}

// New returns --status with its defaults.
func New() *Status { return &Status{Common: mode.Defaults(), storeFlags: ofStore()} }

// shown is what was found at one time.
type shown struct {
	runs   []*registry.Entry
	detail bool // all of the one run is shown
	guards []guard.Status
}

func (s *shown) lives() bool { return slices.ContainsFunc(s.runs, (*registry.Entry).Lives) }

// tick is how often --watch looks.
const tick = time.Second

// Run shows runs and guards, with --watch until no run lives: on a terminal in place,
// elsewhere what has changed; a countdown is no change.
func (g *Status) Run() int {
	if len(g.Key) > 0 {
		var err error
		if g.store, err = g.open(&g.Common); err != nil {
			return g.Usage(err)
		}
	}
	inPlace := g.Watch && !g.JSON() && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(g.Call.Stdout.Fd()))
	var before *shown
	var last []byte
	clear := "" // erases the lines that were drawn
	for {
		s, failed := g.look(before)
		if failed != nil && before == nil && g.Watch {
			return g.Fail(failed)
		}
		nothing := before == nil && len(s.runs) == 0
		if nothing || !g.Watch {
			g.warnMissing(s)
		}
		state, err := json.Marshal(s.withoutCountdowns())
		if err == nil {
			err = g.print(s)
		}
		if err != nil {
			return g.Fail(err)
		}
		switch {
		case inPlace:
			frame := fit(g.Call.Out.Bytes(), g.Call.Stdout)
			g.Call.Out.Reset()
			g.Print(clear + frame)
			clear = fmt.Sprintf("\x1b[%dA\x1b[J", strings.Count(frame, "\n"))
		case bytes.Equal(state, last):
			g.Call.Out.Reset()
		}
		if err := g.Flush(); err != nil {
			return g.Fail(err)
		}
		useUp(s)
		switch {
		case failed != nil && !g.Watch:
			return g.Fail(failed)
		case nothing && (g.Watch || len(s.guards) == 0):
			return exitcodes.Rejected
		case !g.Watch || !s.lives():
			return exitcodes.OK
		}
		before, last = s, state
		time.Sleep(tick)
	}
}

// look finds what is asked for. Of what was seen before, lost runs stay, and the guards
// if the store cannot be used now.
func (g *Status) look(before *shown) (s *shown, err error) {
	s = &shown{runs: list()}
	if len(g.Words) > 0 {
		s.runs = slices.DeleteFunc(s.runs, func(e *registry.Entry) bool {
			return !slices.ContainsFunc(g.Words, func(word string) bool { return word == allWord || matches(e, word) })
		})
	}
	if before != nil {
		for _, e := range before.runs {
			if !e.Lives() &&
				!slices.ContainsFunc(s.runs, func(other *registry.Entry) bool { return other.RunID == e.RunID }) {
				s.runs = append(s.runs, e)
			}
		}
	}
	slices.SortStableFunc(s.runs, registry.Older)
	s.detail = len(g.Words) == 1 && len(s.runs) == 1
	if g.store != nil {
		if s.guards, err = g.guards(g.store); err != nil && before != nil {
			s.guards = before.guards
		}
	}
	return s, err
}

// warnMissing reports the words that name no run, or else that there is nothing to show.
func (g *Status) warnMissing(s *shown) {
	if g.Quiet {
		return
	}
	nothing := len(s.runs)+len(s.guards) == 0 && !g.JSON()
	for _, word := range g.Words {
		if word != allWord && !slices.ContainsFunc(s.runs, func(e *registry.Entry) bool { return matches(e, word) }) {
			g.Warn(noRun(word))
			nothing = false
		}
	}
	switch {
	case nothing && len(g.Key) > 0:
		fmt.Fprintln(g.Call.Stderr, "retry: no runs, and no guards with the key")
	case nothing:
		fmt.Fprintln(g.Call.Stderr, "retry: no runs")
	}
}

// noRun says why a word names no run.
func noRun(word string) string {
	if len(word) < leastID {
		return fmt.Sprintf("no run has the name %q; an id needs its first %d characters or more", word, leastID)
	}
	return fmt.Sprintf("no run has the name %q or an id that begins with it", word)
}

// useUp removes the records of the lost runs that were shown.
func useUp(s *shown) {
	for _, e := range s.runs {
		if !e.Lives() {
			e.Remove()
		}
	}
}

// json is the object of --status.
func (s *shown) json() any {
	runs := []registry.Run{}
	for _, e := range s.runs {
		run := e.Run
		run.GivenName = "" // it may hold a secret
		runs = append(runs, run)
	}
	return struct {
		Runs   []registry.Run `json:"runs"`
		Guards []guard.Status `json:"guards"`
	}{runs, append([]guard.Status{}, s.guards...)}
}

// withoutCountdowns is json without what changes as time passes.
func (s *shown) withoutCountdowns() any {
	still := *s
	still.guards = slices.Clone(s.guards)
	for i := range still.guards {
		still.guards[i].RateLimit.NextIn = 0
	}
	return still.json()
}

func (g *Status) print(s *shown) error {
	if g.JSON() {
		return text.WriteJSON(&g.Call.Out, s.json())
	}
	now := time.Now()
	var tables []string
	if len(s.runs) > 0 {
		table := mode.Table(g.Width(), rows(s.runs, now))
		if !s.detail { // else it is among the details
			table = withCommands(table, s.runs, g.Width())
		}
		tables = append(tables, table)
	}
	if s.detail {
		tables = append(tables, mode.Table(g.Width(), details(s.runs[0], now)))
	}
	if len(s.guards) > 0 {
		tables = append(tables, mode.Table(g.Width(), guardRows(s.guards, now)))
	}
	g.Print(strings.Join(tables, "\n"))
	return nil
}

// fit cuts a frame to the height of the terminal: lines that have scrolled away cannot be
// drawn again.
func fit(frame []byte, terminal *os.File) string {
	_, height, err := term.GetSize(int(terminal.Fd()))
	lines := bytes.SplitAfter(frame, []byte("\n"))
	if err == nil && height > 1 {
		lines = lines[:min(len(lines), height-1)]
	}
	return string(bytes.Join(lines, nil))
}

func rows(runs []*registry.Entry, now time.Time) [][]string {
	table := [][]string{{"ID", "NAME", "STATUS", "ATTEMPT", "NEXT IN", "SINCE", "LAST FAILURE"}}
	for _, e := range runs {
		table = append(table, []string{
			e.RunID[:shortID], e.Name, string(e.Status),
			message.Position(&event.Header{Attempt: e.Attempt, MaxAttempts: e.MaxAttempts}), next(e, now),
			cmp.Or(clock(e.StartedAt, now), "-"), show(e.LastReason),
		})
	}
	return table
}

// withCommands adds the command below each row of a table of runs: two of one name are told
// apart by it.
func withCommands(table string, runs []*registry.Entry, width int) string {
	var b strings.Builder
	const header = 1
	row := 0
	for line := range strings.Lines(table) {
		b.WriteString(line)
		if i := row - header; i >= 0 && len(runs[i].Command) > 0 {
			indent := strings.Repeat(" ", shortID+2)
			b.WriteString(mode.Cut(indent+message.Printable(strings.Join(runs[i].Command, " ")), width) + "\n")
		}
		row++
	}
	return b.String()
}

// next says when the next attempt starts, if that is known.
func next(e *registry.Entry, now time.Time) string {
	if e.NextAttemptAt == nil {
		return "-"
	}
	left := e.NextAttemptAt.Sub(now)
	return (max(left, 0) + time.Second - 1).Truncate(time.Second).String()
}

// clock is a time of today, or a date and a time, "" for nil.
func clock(t *text.Time, now time.Time) string {
	switch {
	case t == nil:
		return ""
	case t.Local().Format(time.DateOnly) == now.Local().Format(time.DateOnly):
		return t.Local().Format(time.TimeOnly)
	}
	return t.Local().Format(time.DateTime)
}

// show is a value, "" for nil.
func show[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}

func details(e *registry.Entry, now time.Time) [][]string {
	var record, signals, depth string
	if e.Unreadable {
		record = "cannot be read: it is damaged, or of another version of this program"
	}
	if err := e.Unreachable(); e.Lives() && err != nil {
		signals = err.Error()
	}
	if e.Depth > 1 {
		depth = fmt.Sprint(e.Depth)
	}
	cells := []string{
		"run id", e.RunID, "record", record, "signals", signals, "pid", fmt.Sprint(e.PID),
		"command", strings.Join(e.Command, " "),
		"directory", e.Cwd, "host", e.Host, "deadline", clock(e.DeadlineAt, now),
		"next attempt", clock(e.NextAttemptAt, now),
		"last exit", show(e.LastExit), "verdict", show(e.Verdict), "rule", show(e.Rule), "key", e.Key,
		"policy", e.Policy, "depth", depth,
	}
	for i := range e.Attempts {
		a := &e.Attempts[i]
		value := clock(a.StartedAt, now)
		if a.EndedAt != nil && a.StartedAt != nil {
			value += fmt.Sprintf(", %s: %s", a.EndedAt.Sub(a.StartedAt.Time).Round(time.Millisecond), show(a.Reason))
		} else {
			value = "since " + value
		}
		cells = append(cells, fmt.Sprintf("attempt %d", a.Attempt), value)
	}
	return mode.Pairs(cells...)
}
