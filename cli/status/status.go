// Package status is the modes that look at runs from outside (SPEC section 16) and
// reach them: --status, --wake and --cancel.
//
// It selects and prints. What is known of a run is read by package registry; the
// caller says how a process is signalled.
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
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/registry"
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

// list returns the records of the user.
func list() []registry.Entry { return registry.List(registry.Places(os.LookupEnv)) }

// Flags is the grammar of --status.
type Flags struct {
	mode.Common
	Watch bool
	IDs   []string `arg:"" optional:"" name:"id"`
}

// shown is what one look has found.
type shown struct {
	runs   []*registry.Entry
	detail bool // all of the one run is shown
}

// lives reports whether one of the runs does.
func (s *shown) lives() bool { return slices.ContainsFunc(s.runs, (*registry.Entry).Lives) }

// Show is --status.
func Show(c mode.Call) int {
	var g Flags
	if err := mode.Parse(c, &g); err != nil {
		return c.Usage(err)
	}
	if g.Watch {
		return watch(&c, &g)
	}
	s := look(&g, nil)
	if !g.Quiet {
		tellUnmatched(&c, &g, s)
	}
	code := exitcodes.OK
	if len(s.runs) == 0 {
		code = exitcodes.Rejected
	}
	if err := s.print(c.Stdout, &g, c.Width()); err != nil {
		return c.Fail(err)
	}
	useUp(s)
	return code
}

// look finds what is asked for. before are runs that were seen already: of these
// the lost ones stay.
func look(g *Flags, before []*registry.Entry) *shown {
	s := &shown{}
	all := list()
	for i := range all {
		if e := &all[i]; len(g.IDs) == 0 || slices.ContainsFunc(g.IDs, func(word string) bool { return word == allWord || matches(e, word) }) {
			s.runs = append(s.runs, e)
		}
	}
	for _, e := range before {
		known := slices.ContainsFunc(s.runs, func(other *registry.Entry) bool { return other.RunID == e.RunID })
		if !e.Lives() && !known {
			s.runs = append(s.runs, e)
		}
	}
	slices.SortStableFunc(s.runs, registry.Older)
	s.detail = len(g.IDs) == 1 && len(s.runs) == 1
	return s
}

// tellUnmatched tells of the words that name no run.
func tellUnmatched(c *mode.Call, g *Flags, s *shown) {
	for _, word := range g.IDs {
		if word != allWord && !slices.ContainsFunc(s.runs, func(e *registry.Entry) bool { return matches(e, word) }) {
			unmatched(c, word)
		}
	}
}

func unmatched(c *mode.Call, word string) {
	fmt.Fprintf(c.Stderr, "retry: --%s: %s\n", c.Name, message.Printable(noRun(word)))
}

// noRun says why a word names no run.
func noRun(word string) string {
	if len(word) < leastID {
		return fmt.Sprintf("no run has the name %q; an id needs its first %d characters or more", word, leastID)
	}
	return fmt.Sprintf("no run has the name %q or an id that begins with it", word)
}

// useUp removes the records of lost runs that were shown.
func useUp(s *shown) {
	for _, e := range s.runs {
		if !e.Lives() {
			e.Remove()
		}
	}
}

// object is the JSON of --status.
type object struct {
	Runs   []registry.Run `json:"runs"`
	Guards []any          `json:"guards"`
}

func (s *shown) object() object {
	o := object{Runs: []registry.Run{}, Guards: []any{}}
	for _, e := range s.runs {
		o.Runs = append(o.Runs, e.Run)
	}
	return o
}

func (s *shown) print(w io.Writer, g *Flags, width int) error {
	switch {
	case g.JSON():
		return writeJSON(w, s.object())
	case len(s.runs) == 0:
		return nil
	}
	now := time.Now()
	if err := mode.Table(w, width, rows(s.runs, now)); err != nil || !s.detail {
		return err
	}
	_, err := io.WriteString(w, "\n")
	if err == nil {
		err = mode.Table(w, width, details(s.runs[0], now))
	}
	return err
}

// tick is how often --watch looks.
const tick = time.Second

// watch is --status --watch. On a terminal the table is drawn in place; elsewhere
// what has changed is printed, and a countdown is no change.
func watch(c *mode.Call, g *Flags) int {
	inPlace := !g.JSON() && term.IsTerminal(int(c.Stdout.Fd()))
	var last []byte
	lines := 0 // on the terminal
	for s := look(g, nil); ; s = look(g, s.runs) {
		var frame bytes.Buffer
		if err := s.print(&frame, g, c.Width()); err != nil {
			return c.Fail(err)
		}
		state, err := json.Marshal(s.object())
		if err != nil {
			return c.Fail(err)
		}
		switch {
		case inPlace:
			text := fit(frame.Bytes(), c)
			_, err = fmt.Fprintf(c.Stdout, "%s%s", up(lines), text)
			lines = bytes.Count(text, []byte("\n"))
		case !bytes.Equal(state, last):
			_, err = c.Stdout.Write(frame.Bytes())
		}
		if err != nil {
			return c.Fail(err)
		}
		useUp(s)
		switch {
		case len(s.runs) == 0 && last == nil:
			if !g.Quiet {
				tellUnmatched(c, g, s)
			}
			return exitcodes.Rejected
		case !s.lives():
			return exitcodes.OK
		}
		last = state
		time.Sleep(tick)
	}
}

// up moves to the first of the lines that were drawn, and clears them.
func up(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\x1b[J", lines)
}

// fit cuts a frame to the height of the terminal: what has scrolled away cannot be
// drawn anew.
func fit(frame []byte, c *mode.Call) []byte {
	_, height, err := term.GetSize(int(c.Stdout.Fd()))
	if err != nil || height < 2 {
		return frame
	}
	lines := bytes.SplitAfter(frame, []byte("\n"))
	return bytes.Join(lines[:min(len(lines), height-1)], nil)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
