package classify

// This file learns the weights of words.go, the same each time, and checks them
// by leaving out whole tools.
//
//	go test ./engine/classify -run TestWordsAreCurrent -update

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/retrysh/retry/engine/event"
)

// sample is a failure to learn from.
type sample struct {
	record    *record
	corpus    string
	features  []int
	permanent bool
}

// samples reads all recordings, the phrases, and what was written down to learn
// words from: outputs in as many wordings as possible, of causes that pass and of
// causes that do not. names has the words in the order of their numbers.
func samples(tb testing.TB) (all []sample, names []string) {
	tb.Helper()
	number := map[string]int{}
	for _, path := range append(slices.Clone(corpora), "testdata/written.jsonl", "testdata/phrases-transient.txt", "testdata/phrases-permanent.txt") {
		var records []record
		if strings.HasSuffix(path, ".txt") {
			for i, phrase := range phrases(tb, path) {
				records = append(records, record{ID: phrase, Tool: fmt.Sprint(path, i), Label: strings.TrimSuffix(strings.TrimPrefix(path, "testdata/phrases-"), ".txt"), Argv: []string{"frob"}, ExitCode: 1, Stderr: phrase})
			}
		} else {
			records = readCorpus(tb, path)
		}
		for i := range records {
			r := &records[i]
			f := r.failure()
			s := sample{record: r, corpus: path, permanent: r.Label == "permanent"}
			out := newOutput(f.Stdout, f.Stderr)
			lines, marks := readWords(f, out)
			if strings.HasSuffix(path, ".txt") {
				marks = nil // no command stands behind a phrase
			}
			for _, w := range slices.Sorted(maps.Keys(words(lines, marks...))) {
				if slices.ContainsFunc(strings.Fields(w), func(part string) bool { return slices.Contains(fixture, part) }) {
					continue
				}
				if _, known := number[w]; !known {
					number[w] = len(names)
					names = append(names, w)
				}
				s.features = append(s.features, number[w])
			}
			all = append(all, s)
		}
	}
	return all, names
}

// The learner's settings.
const (
	toolsMin    = 3    // a word counts that so many tools write
	epochs      = 30   // passes over the samples
	rate        = 0.45 // of the first pass's steps
	decay       = 0.03 // of the weights in each step (L2)
	weightLeast = 5    // hundredths; a word with less is left out
)

// fixture are words of the servers and files that the failures were recorded
// with, which no stranger writes.
var fixture = []string{"nope", "who", "oops", "abc", "foo", "corp", "mirror", "runner", "acme", "nginx", "center", "hr", "app"}

// learn fits a logistic regression by stochastic gradient descent to the samples
// of the tools that in names, and returns the weights in hundredths. The samples
// of one tool count as many as their square root.
func learn(all []sample, names []string, in func(tool string) bool) map[string]int {
	tools := make([]map[string]bool, len(names))
	perTool := map[string]int{}
	var order []int
	for i := range all {
		tool := all[i].record.Tool
		if all[i].record.Label == "ambiguous" || !in(tool) {
			continue
		}
		order = append(order, i)
		perTool[tool]++
		for _, f := range all[i].features {
			if tools[f] == nil {
				tools[f] = map[string]bool{}
			}
			tools[f][tool] = true
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scatter(a), scatter(b)), a-b) })
	kept := make([][]int, len(all))
	for _, i := range order {
		for _, f := range all[i].features {
			if len(tools[f]) >= toolsMin {
				kept[i] = append(kept[i], f)
			}
		}
	}
	weights, always := make([]float64, len(names)), 0.0
	for epoch := range epochs {
		for _, i := range order {
			features := kept[i]
			z := always
			for _, f := range features {
				z += weights[f]
			}
			step := rate / (1 + float64(epoch)/5) / math.Sqrt(float64(perTool[all[i].record.Tool]))
			gradient := -1 / (1 + math.Exp(-z))
			if all[i].permanent {
				gradient++
			}
			gradient *= step / math.Sqrt(1+float64(len(features)))
			always += gradient
			for _, f := range features {
				weights[f] += gradient - rate/3/(1+float64(epoch)/5)*decay*weights[f]
			}
		}
	}
	table := map[string]int{"": hundredths(always)}
	for f, w := range weights {
		if n := hundredths(w); n >= weightLeast || n <= -weightLeast {
			table[names[f]] = n
		}
	}
	return table
}

func hundredths(w float64) int { return int(math.Round(w * 100)) }

// scatter orders the samples so that neighbours in the files are apart
// (Knuth's multiplicative hash).
func scatter(i int) uint32 { return uint32(i+1) * 2654435761 }

// The tools are divided into folds; the weights by which a tool is checked are
// learned from those of the other folds.
const folds = 10

func foldOf(tool string) int {
	h := fnv.New32a()
	h.Write([]byte(tool))
	return int(h.Sum32() % folds)
}

// learned are the samples and the weights of each fold, which are learned once.
var learned struct {
	once  sync.Once
	all   []sample
	names []string
	folds [folds]map[string]int
}

func learnFolds(tb testing.TB) {
	tb.Helper()
	learned.once.Do(func() {
		learned.all, learned.names = samples(tb)
		for k := range folds {
			learned.folds[k] = learn(learned.all, learned.names, func(tool string) bool { return foldOf(tool) != k })
		}
	})
}

// withoutTool returns the weights that were learned without the tool.
func withoutTool(tool string) func(word string) int {
	weights := learned.folds[foldOf(tool)]
	return func(word string) int { return weights[word] }
}

func TestWordsAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("works through a corpus on one goroutine")
	}
	learnFolds(t)
	want := learn(learned.all, learned.names, func(string) bool { return true })
	if *update {
		var text strings.Builder
		for _, w := range slices.Sorted(maps.Keys(want)) {
			fmt.Fprintf(&text, "%s\t%d\n", w, want[w])
		}
		if err := os.WriteFile("words.tsv", []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	// Other processors round otherwise.
	got, apart := strings.Count(wordsFile, "\n"), 0
	for w := range want {
		if d := weightOf(w) - want[w]; d < -2 || d > 2 {
			apart++
		}
	}
	if apart > len(want)/100 || got < len(want)*9/10 || got > len(want)*11/10 {
		t.Errorf("%d of %d words have other weights than the recordings give; run this test with -update", apart, len(want))
	}
}

// TestWordsOnToolsLeftOut: the words alone, on the failures of tools that they
// were not learned from and that no rule knows.
func TestWordsOnToolsLeftOut(t *testing.T) {
	learnFolds(t)
	strangers := strangerTables{}
	var transient, transients, permanent, stopped, found int
	for i := range learned.all {
		s := &learned.all[i]
		if s.record.Label == "ambiguous" || !slices.Contains(corpora, s.corpus) {
			continue
		}
		transients += count(!s.permanent)
		f := s.record.failure()
		out := newOutput(f.Stdout, f.Stderr)
		if len(strangers.of(s.record).byRules(f, out)) > 0 {
			continue
		}
		table := &Table{words: withoutTool(s.record.Tool)}
		lines, marks := readWords(f, out)
		sum, _ := table.lean(lines, marks)
		v, _ := leansTo(sum)
		if s.permanent {
			permanent++
			found += count(v == event.Permanent)
		} else {
			transient++
			stopped += count(v == event.Permanent)
		}
	}
	t.Logf("of %d permanents that no rule knows %d found; of %d such transients %d stopped, of all %d %.4f", permanent, found, transient, stopped, transients, share(stopped, transients))
	if share(stopped, transients) > 0.01 || share(found, permanent) < 0.4 {
		t.Error("the words have become worse")
	}
}

// TestWeightOf: the search finds every line of the table, and nothing else.
func TestWeightOf(t *testing.T) {
	last := ""
	for line := range strings.Lines(wordsFile) {
		word, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if got := weightOf(word); fmt.Sprint(got) != number {
			t.Errorf("%q weighs %d, want %s", word, got, number)
		}
		if word < last {
			t.Errorf("%q stands behind %q", word, last)
		}
		last = word
		if got := weightOf(word + "\x00"); got != 0 {
			t.Errorf("%q, which is not there, weighs %d", word+"\x00", got)
		}
	}
}
