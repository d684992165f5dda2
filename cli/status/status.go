// Package status is the modes that look at runs from outside (docs/status.md) and
// reach them: --status, --wake, --cancel and --reset.
//
// It selects and prints what packages registry and store read. The caller provides the
// means to signal a process.
package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/engine/store"
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
	return word == e.Name && word != "" || len(word) >= leastID && strings.HasPrefix(e.RunID, strings.ToLower(word))
}

func list() []*registry.Entry { return registry.List(registry.Places(os.LookupEnv)) }

// Flags is the grammar of --status.
type Flags struct {
	mode.Common
	storeFlags
	Key []string `sep:"none"`
	// More is known of guards whose parameters are given.
	Breaker guard.Breaker `variable:"yes"`
	Budget  guard.Budget  `variable:"yes"`
	Tokens  guard.Tokens  `variable:"yes"`
	Watch   bool
	IDs     []string `arg:"" optional:"" name:"id"`
}

// shown is what was found at one time.
type shown struct {
	runs   []*registry.Entry
	detail bool // all of the one run is shown
	guards []guard.Status
}

func (s *shown) lives() bool { return slices.ContainsFunc(s.runs, (*registry.Entry).Lives) }

// Show is --status.
func Show(c mode.Call) int {
	v := view{c: &c}
	if err := mode.Parse(c, &v.Flags); err != nil {
		return c.Usage(err)
	}
	if len(v.Key) > 0 {
		var err error
		if v.store, err = v.open(&c); err != nil {
			return c.Usage(err)
		}
	}
	if v.Watch {
		return v.watch()
	}
	s, failed := v.look(nil)
	v.complain(s)
	code := exitcodes.OK
	if len(s.runs)+len(s.guards) == 0 {
		code = exitcodes.Rejected
	}
	if err := v.print(c.Stdout, s); err != nil {
		return c.Fail(err)
	}
	useUp(s)
	if failed != nil {
		return c.Fail(failed)
	}
	return code
}

// view is one use of --status.
type view struct {
	Flags
	c     *mode.Call
	store store.Store // nil where no guards are asked for
}

// look finds what is asked for. Of what was seen before, lost runs stay, and the guards
// where the store cannot be used now.
func (v *view) look(before *shown) (s *shown, err error) {
	s = &shown{runs: list()}
	if len(v.IDs) > 0 {
		s.runs = slices.DeleteFunc(s.runs, func(e *registry.Entry) bool {
			return !slices.ContainsFunc(v.IDs, func(word string) bool { return word == allWord || matches(e, word) })
		})
	}
	if before != nil {
		for _, e := range before.runs {
			if !e.Lives() && !slices.ContainsFunc(s.runs, func(other *registry.Entry) bool { return other.RunID == e.RunID }) {
				s.runs = append(s.runs, e)
			}
		}
	}
	slices.SortStableFunc(s.runs, registry.Older)
	s.detail = len(v.IDs) == 1 && len(s.runs) == 1
	if v.store != nil {
		if s.guards, err = v.guards(v.store); err != nil && before != nil {
			s.guards = before.guards
		}
	}
	return s, err
}

// complain reports the words that name no run, or else that there is nothing to show.
func (v *view) complain(s *shown) {
	if v.Quiet {
		return
	}
	nothing := len(s.runs)+len(s.guards) == 0 && !v.JSON()
	for _, word := range v.IDs {
		if word != allWord && !slices.ContainsFunc(s.runs, func(e *registry.Entry) bool { return matches(e, word) }) {
			v.c.Complain(noRun(word))
			nothing = false
		}
	}
	switch {
	case nothing && len(v.Key) > 0:
		fmt.Fprintln(v.c.Stderr, "retry: no runs, and no guards with the key")
	case nothing:
		fmt.Fprintln(v.c.Stderr, "retry: no runs")
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
		runs = append(runs, e.Run)
	}
	return struct {
		Runs   []registry.Run `json:"runs"`
		Guards []guard.Status `json:"guards"`
	}{runs, append([]guard.Status{}, s.guards...)}
}

func (v *view) print(w io.Writer, s *shown) error {
	if v.JSON() {
		return text.WriteJSON(w, s.json())
	}
	now, width := time.Now(), v.c.Width()
	var tables [][][]string
	if len(s.runs) > 0 {
		tables = append(tables, rows(s.runs, now))
	}
	if s.detail {
		tables = append(tables, details(s.runs[0], now))
	}
	if len(s.guards) > 0 {
		tables = append(tables, guardRows(s.guards, now))
	}
	for i, table := range tables {
		if i > 0 {
			_, _ = io.WriteString(w, "\n")
		}
		if err := mode.Table(w, width, table); err != nil {
			return err
		}
	}
	return nil
}

// tick is how often --watch looks.
const tick = time.Second

// watch is --status --watch. On a terminal the tables are drawn in place; elsewhere
// what has changed is printed, and a countdown is no change.
func (v *view) watch() int {
	inPlace := !v.JSON() && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(v.c.Stdout.Fd()))
	var before *shown
	var last []byte
	lines := 0 // on the terminal
	for {
		s, err := v.look(before)
		if err != nil && before == nil {
			return v.c.Fail(err)
		}
		var frame bytes.Buffer
		if err := v.print(&frame, s); err != nil {
			return v.c.Fail(err)
		}
		state, err := json.Marshal(s.json())
		if err != nil {
			return v.c.Fail(err)
		}
		switch {
		case inPlace:
			clear := "" // the lines that were drawn
			if lines > 0 {
				clear = fmt.Sprintf("\x1b[%dA\x1b[J", lines)
			}
			text := fit(frame.Bytes(), v.c)
			_, err = fmt.Fprintf(v.c.Stdout, "%s%s", clear, text)
			lines = bytes.Count(text, []byte("\n"))
		case !bytes.Equal(state, last):
			_, err = v.c.Stdout.Write(frame.Bytes())
		}
		if err != nil {
			return v.c.Fail(err)
		}
		useUp(s)
		switch {
		case len(s.runs) == 0 && before == nil:
			v.complain(s)
			return exitcodes.Rejected
		case !s.lives():
			return exitcodes.OK
		}
		before, last = s, state
		time.Sleep(tick)
	}
}

// fit cuts a frame to the height of the terminal: lines that have scrolled away cannot be
// drawn again.
func fit(frame []byte, c *mode.Call) []byte {
	_, height, err := term.GetSize(int(c.Stdout.Fd()))
	if err != nil || height < 2 {
		return frame
	}
	lines := bytes.SplitAfter(frame, []byte("\n"))
	return bytes.Join(lines[:min(len(lines), height-1)], nil)
}
