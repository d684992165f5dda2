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

// reach does the same with each run that is named, in parallel, and prints the results.
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
		c.Complain(r.Reason)
	}
	return c.Print(code, func(w *os.File) error {
		if g.JSON() {
			return text.WriteJSON(w, map[string]any{"runs": results})
		}
		for i := range results {
			if r := &results[i]; r.Done && !g.Quiet {
				if _, err := fmt.Fprintf(w, "%s %s %s\n", done, r.RunID[:shortID], message.Printable(r.Name)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// about is the result of a word that names a run.
func about(word string, e *registry.Entry) result {
	return result{ID: word, RunID: e.RunID, Name: e.Name, run: e}
}

// resolve finds the runs that the words name. Where a word names several that live,
// none is to be reached.
func resolve(all []*registry.Entry, words []string) (results []result) {
	ambiguous := ""
	for _, word := range words {
		var named []*registry.Entry
		var ids []string
		var lost *registry.Entry
		for _, e := range all {
			switch {
			case word != allWord && !matches(e, word):
			case e.Lives():
				named, ids = append(named, e), append(ids, e.RunID)
			default:
				lost = e
			}
		}
		r := result{ID: word}
		switch {
		case word == allWord && len(named) > 0:
			for _, e := range named {
				results = append(results, about(e.RunID[:shortID], e))
			}
			continue
		case word == allWord:
			r.Reason = "no run lives"
		case len(named) == 1:
			r = about(word, named[0])
		case len(named) > 1:
			r.Reason = fmt.Sprintf("%q names %d runs, and nothing is done: %s", word, len(named), strings.Join(ids, " "))
			ambiguous = word
		case lost != nil:
			r = about(word, lost)
			r.run, r.Reason = nil, fmt.Sprintf("the run %q is lost: its program is gone", word)
		default:
			r.Reason = noRun(word)
		}
		results = append(results, r)
	}
	for i := range results {
		if r := &results[i]; ambiguous != "" && r.run != nil {
			r.run, r.Reason = nil, fmt.Sprintf("nothing is done for %q since %q names several runs", r.ID, ambiguous)
		}
	}
	return results
}

// each reaches the runs in parallel, each once.
func each(results []result, do func(*registry.Entry) error) {
	reached := map[*registry.Entry]func() error{}
	for i := range results {
		if e := results[i].run; e != nil && reached[e] == nil {
			reached[e] = sync.OnceValue(func() error { return do(e) })
			go reached[e]()
		}
	}
	for i := range results {
		r := &results[i]
		if r.run == nil {
			continue
		}
		err := reached[r.run]()
		if r.Done = err == nil; !r.Done {
			r.Reason = fmt.Sprintf("%s (%s): %s", r.Name, r.RunID[:shortID], err)
		}
	}
}
