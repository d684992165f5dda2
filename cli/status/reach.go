package status

// This file is --wake and --cancel.

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/exitcodes"
)

// Reach is --wake and --cancel.
type Reach struct {
	mode.Common
	Send registry.Send `kong:"-"`
}

type result struct {
	ID     string `json:"id"`
	RunID  string `json:"run_id"` // "" if the word names no run
	Name   string `json:"name"`
	Done   bool   `json:"done"`
	Reason string `json:"reason"`

	run *registry.Entry // to reach, nil for none
}

// Run does the same with each run that is named, in parallel, and prints the results.
func (g *Reach) Run() int {
	if len(g.Words) == 0 {
		return g.Usage(errors.New("needs an id: a run's name, 4 or more of the first characters of its id, or all"))
	}
	done, do := "woken", (*registry.Entry).Wake
	if g.Call.Name == "cancel" {
		done, do = "cancelled", (*registry.Entry).Cancel
	}
	results := resolve(list(), g.Words)
	each(results, func(e *registry.Entry) error { return do(e, g.Send) })
	code := exitcodes.OK
	for i := range results {
		switch r := &results[i]; {
		case !r.Done:
			code = exitcodes.Rejected
			g.Warn(r.Reason)
		case !g.Quiet && !g.JSON():
			g.Print(done + " " + r.RunID[:shortID] + " " + message.Printable(r.Name) + "\n")
		}
	}
	if g.JSON() {
		return g.PrintJSON(code, map[string]any{"runs": results})
	}
	return code
}

// about is the result of a word that names a run.
func about(word string, e *registry.Entry) result {
	return result{ID: word, RunID: e.RunID, Name: e.Name, run: e}
}

// resolve finds the runs that the words name. If a word names several that live, no run
// of any word is to be reached.
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
				named = append(named, e)
				ids = append(ids, e.RunID)
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
			r.Reason = fmt.Sprintf("%q names %d runs, and nothing is done: %s", word, len(named),
				strings.Join(ids, " "))
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
