package classify

// This file measures the built-in table on tools that no rule was written for:
// each failure is judged a second time with the rules hidden that name its tool,
// and with words that were learned without it.
// RETRY_JUDGED=FILE writes what became of each.

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
)

// hiding returns the table without the rules that name one of the commands.
func hiding(t *Table, names []string) *Table {
	var rules []*Rule
	var layer []int
	for i, r := range t.rules {
		if len(r.Tools) == 0 || !r.isAbout(names) {
			rules, layer = append(rules, r), append(layer, t.layer[i])
		}
	}
	return newTable(rules, layer)
}

// corpora are the failures that the table is measured on: those of the field's
// corpus and of this project, recorded by running real tools against faults;
// those of tools that had no rule and no recording when theirs were made;
// messages of a few lines that were written down from memory, with labels of our
// own; and those that somebody who did not know the rules recorded. The label of
// a recording is that of the fault, which the output does not always show: of the
// later ones a reader said what he made of the output, before he knew (Seen). The
// file after those has mostly the corpus' tools again, under faults and in uses that
// it has not. The last one has failures as people post them, which were written down
// from memory by others who did not know the rules, labelled by their cause.
var corpora = []string{"testdata/corpus.jsonl", "testdata/recordings.jsonl", "testdata/strangers.jsonl", "testdata/quoted.jsonl", "testdata/outside.jsonl", "testdata/again.jsonl", "testdata/posted.jsonl"}

// strangerTables are tables for tools that are to be judged as if nothing had
// been written for them, by their names.
type strangerTables map[string]*Table

// of returns the table for the record's tool.
func (s strangerTables) of(r *record) *Table {
	names, _ := command.Chain(r.Argv)
	names = append(slices.Clone(names), r.Tool)
	key := strings.Join(names, " ")
	if s[key] == nil {
		s[key] = hiding(BuiltIn(), names)
	}
	return s[key]
}

// rates are shares of judged failures; an unknown one is retried.
type rates struct{ transient, permanent, stopped, retried int }

func (r *rates) add(label string, v event.Verdict) {
	switch label {
	case "transient":
		r.transient++
		r.stopped += count(v == event.Permanent)
	case "permanent":
		r.permanent++
		r.retried += count(v != event.Permanent)
	}
}

func (r *rates) right() float64 {
	return 1 - share(r.stopped+r.retried, r.transient+r.permanent)
}

// judged is a line of the file that RETRY_JUDGED names.
type judged struct {
	Set, ID, Tool, Label   string
	AsIs, AsIsRule         string
	Hidden, HiddenRule     string
	HiddenLine, HiddenNext string
}

func TestLeaveOneToolOut(t *testing.T) {
	if testing.Short() {
		t.Skip("works through a corpus on one goroutine")
	}
	learnFolds(t)
	strangers := strangerTables{}
	var lines []judged
	for _, path := range corpora {
		var asIs, hidden, seen rates
		for _, r := range readCorpus(t, path) {
			f := r.failure()
			a, stranger := BuiltIn().Judge(f), strangers.of(&r)
			stranger.words = withoutTool(r.Tool)
			h := stranger.Judge(f)
			asIs.add(r.Label, a.Verdict)
			hidden.add(r.Label, h.Verdict)
			seen.add(r.Seen, h.Verdict)
			j := judged{Set: path, ID: r.ID, Tool: r.Tool, Label: r.Label, AsIs: string(a.Verdict), AsIsRule: a.Rule, Hidden: string(h.Verdict), HiddenRule: h.Rule}
			if len(h.Matches) > 0 {
				j.HiddenLine = h.Matches[0].Line
			}
			for _, m := range h.Matches {
				if m.Rule.Verdict != h.Verdict {
					j.HiddenNext = m.Rule.ID + ": " + m.Line
					break
				}
			}
			lines = append(lines, j)
		}
		for _, x := range []struct {
			name string
			r    rates
		}{{"as it is", asIs}, {"own rules hidden", hidden}, {"own rules hidden, by what the output shows", seen}} {
			if x.r.transient == 0 {
				continue
			}
			t.Logf("%s, %s: right %.3f, of %d transients %.3f stopped, of %d permanents %.3f retried", path, x.name,
				x.r.right(), x.r.transient, share(x.r.stopped, x.r.transient), x.r.permanent, share(x.r.retried, x.r.permanent))
		}
		if hidden.right() < 0.945 || share(hidden.stopped, hidden.transient) > 0.035 || share(hidden.retried, hidden.permanent) > 0.09 || share(seen.stopped, seen.transient) > 0.01 {
			t.Errorf("%s: the table has become worse on tools that it has no rule for", path)
		}
	}
	if path := os.Getenv("RETRY_JUDGED"); path != "" {
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, l := range lines {
			if err := json.NewEncoder(file).Encode(l); err != nil {
				t.Fatal(err)
			}
		}
	}
}
