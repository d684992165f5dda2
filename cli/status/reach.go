package status

// This file is --wake and --cancel.

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// ReachFlags is the grammar of --wake and --cancel.
type ReachFlags struct {
	mode.Common
	IDs []string `arg:"" optional:"" name:"id"`
}

// result is what came of one ID.
type result struct {
	ID     string `json:"id"`
	RunID  string `json:"run_id"` // "" where it names no run
	Name   string `json:"name"`
	Done   bool   `json:"done"`
	Reason string `json:"reason"`

	run *registry.Entry // to reach, nil for none
}

// Wake is --wake.
func Wake(c mode.Call, send registry.Send) int {
	return reach(c, "woken", func(e *registry.Entry) error { return e.Wake(send) })
}

// Cancel is --cancel.
func Cancel(c mode.Call, send registry.Send) int {
	return reach(c, "cancelled", func(e *registry.Entry) error { return e.Cancel(send) })
}

// reach does the same with each run that is named, side by side, and prints what
// came of it.
func reach(c mode.Call, done string, do func(*registry.Entry) error) int {
	var g ReachFlags
	if err := mode.Parse(c, &g); err != nil {
		return c.Usage(err)
	}
	if len(g.IDs) == 0 {
		return c.Usage(errors.New("needs an id: a run's name, 4 or more of the first characters of its id, or all"))
	}
	results := resolve(list(), g.IDs)
	each(results, do)
	code := exitcodes.OK
	for i := range results {
		r := &results[i]
		if r.Done {
			continue
		}
		code = exitcodes.Rejected
		fmt.Fprintf(c.Stderr, "retry: --%s: %s\n", c.Name, message.Printable(r.Reason))
	}
	if g.JSON() {
		return c.Print(code, func(w *os.File) error { return text.WriteJSON(w, map[string]any{"runs": results}) })
	}
	if g.Quiet {
		return code
	}
	return c.Print(code, func(w *os.File) error {
		for i := range results {
			if r := &results[i]; r.Done {
				if _, err := fmt.Fprintf(w, "%s %s %s\n", done, r.RunID[:shortID], message.Printable(r.Name)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// resolve finds the runs that the words name. Where a word names several that live,
// none is to be reached.
func resolve(all []registry.Entry, words []string) []result {
	var results []result
	ambiguous := ""
	for _, word := range words {
		var named []*registry.Entry
		var lost *registry.Entry
		for i := range all {
			switch e := &all[i]; {
			case word != allWord && !matches(e, word):
			case e.Lives():
				named = append(named, e)
			default:
				lost = e
			}
		}
		switch r := (result{ID: word}); {
		case word == allWord:
			for _, e := range named {
				results = append(results, result{ID: e.RunID[:shortID], RunID: e.RunID, Name: e.Name, run: e})
			}
			if len(named) == 0 {
				r.Reason = "no run lives"
				results = append(results, r)
			}
		case len(named) == 1:
			results = append(results, result{ID: word, RunID: named[0].RunID, Name: named[0].Name, run: named[0]})
		case len(named) > 1:
			r.Reason = fmt.Sprintf("%q names %d runs, and nothing is done: %s", word, len(named), ids(named))
			ambiguous = word
			results = append(results, r)
		case lost != nil:
			r.RunID, r.Name, r.Reason = lost.RunID, lost.Name, fmt.Sprintf("the run %q is lost: its program is gone", word)
			results = append(results, r)
		default:
			r.Reason = noRun(word)
			results = append(results, r)
		}
	}
	for i := range results {
		if r := &results[i]; ambiguous != "" && r.run != nil {
			r.run, r.Reason = nil, fmt.Sprintf("nothing is done for %q since %q names several runs", r.ID, ambiguous)
		}
	}
	return results
}

func ids(runs []*registry.Entry) string {
	var all []string
	for _, e := range runs {
		all = append(all, e.RunID)
	}
	return strings.Join(all, " ")
}

// each reaches the runs side by side, each once.
func each(results []result, do func(*registry.Entry) error) {
	var all sync.WaitGroup
	done := map[*registry.Entry]*error{}
	for i := range results {
		e := results[i].run
		if e == nil || done[e] != nil {
			continue
		}
		err := new(error)
		done[e] = err
		all.Go(func() { *err = do(e) })
	}
	all.Wait()
	for i := range results {
		r := &results[i]
		if r.run == nil {
			continue
		}
		err := *done[r.run]
		if r.Done = err == nil; !r.Done {
			r.Reason = fmt.Sprintf("%s (%s): %s", r.Name, r.RunID[:shortID], err)
		}
	}
}
