package classify

// This file leans where no rule speaks: it adds up the weights of the words
// that the output has and gives a verdict where the sum is far from nought.
//
// The weights are those of a logistic regression on the recorded failures of
// testdata, learned by words_test.go and checked there by leaving out whole
// tools. Words are lower case; two that follow each other on a line are a word
// too. Each counts once. What the command line names, numbers, addresses and
// paths are no words, nor are those of a help text.

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/retrysh/retry/engine/event"
)

// wordsFile has a word, a tab and its weight in hundredths on each line, above
// nought for permanent.
//
//go:embed words.tsv
var wordsFile string

// wordWeights reads the table when it is needed first.
var wordWeights = sync.OnceValue(func() map[string]int {
	weights := make(map[string]int, strings.Count(wordsFile, "\n"))
	for line := range strings.Lines(wordsFile) {
		word, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		weights[word], _ = strconv.Atoi(number)
	}
	return weights
})

// The sums, in hundredths, from which on a verdict is given: as far out as the
// check by left-out tools asks for. Giving up on what would pass costs more
// than an attempt in vain.
const (
	leanPermanent = 100
	leanTransient = -120
	// overruled is the sum below which the words overrule weak evidence of a
	// permanent failure.
	overruled = -80
)

// maxWordLines is how many of the last lines are read.
const maxWordLines = 60

// words returns the words of an output, each once.
func words(argv []string, out *output) map[string]bool {
	named := map[string]bool{}
	for _, arg := range argv {
		eachWord(arg, func(w string) { named[w] = true })
	}
	set := map[string]bool{}
	for end, lines := len(out.masked), 0; end > 0 && lines < maxWordLines; lines++ {
		start := strings.LastIndexByte(out.masked[:end], '\n') + 1
		from := max(start, end-maxLine)
		line := out.masked[from:end]
		if kind := out.kind(from, end); kind == plainLine || kind == warningLine {
			if strings.Contains(line, "://") {
				set[urlWord] = true
			}
			before := ""
			eachWord(line, func(w string) {
				if named[w] {
					before = ""
					return
				}
				set[w] = true
				if before != "" {
					set[before+" "+w] = true
				}
				before = w
			})
		}
		end = start - 1
	}
	return set
}

// urlWord stands for an address on the network.
const urlWord = "://"

// eachWord calls do, in lower case, for each run of two letters or more; a small
// letter and a capital are two words (ConnectionClosed).
func eachWord(line string, do func(w string)) {
	for i := 0; i < len(line); {
		start := i
		for i < len(line) && (isLetter(line[i]) || line[i] == '\'' && i > start && i+1 < len(line) && isLetter(line[i+1])) {
			if i++; i < len(line) && line[i-1] >= 'a' && 'A' <= line[i] && line[i] <= 'Z' {
				break
			}
		}
		if w := line[start:i]; len(w) > 1 && len(w) < 24 && strings.Trim(w, "x") != "" {
			do(lowerASCII(w))
		}
		if i == start {
			i++
		}
	}
}

// weighed is a word and its weight.
type weighed struct {
	word   string
	weight int
}

// add sums the words up, the weightiest for the sum's side first.
func add(weights map[string]int, set map[string]bool) (sum int, found []weighed) {
	sum = weights[""] // the words that are always there
	for w := range set {
		if n := weights[w]; n != 0 {
			sum += n
			found = append(found, weighed{w, n})
		}
	}
	slices.SortFunc(found, func(a, b weighed) int {
		if sum < 0 {
			a, b = b, a
		}
		return cmp.Or(b.weight-a.weight, strings.Compare(a.word, b.word))
	})
	return sum, found
}

// lean sums up the words of the output; ok is false where there is none.
func (t *Table) lean(f Failure) (sum int, found []weighed, ok bool) {
	if t.words == nil || len(f.Stdout)+len(f.Stderr) == 0 {
		return 0, nil, false
	}
	out := newOutput(f.Stdout, f.Stderr)
	sum, found = add(t.words(), words(f.Argv, &out))
	return sum, found, true
}

// overrule reports whether the words speak against a permanent failure.
func (t *Table) overrule(f Failure) bool {
	sum, _, ok := t.lean(f)
	return ok && sum < overruled
}

// byWords judges by the words alone; ok is false where they say too little.
func (t *Table) byWords(f Failure) (j Judgement, ok bool) {
	sum, found, ok := t.lean(f)
	verdict := event.Permanent
	switch {
	case !ok:
		return Judgement{}, false
	case sum <= leanTransient:
		verdict = event.Transient
	case sum < leanPermanent:
		return Judgement{}, false
	}
	var named []string
	for _, w := range found[:min(4, len(found))] {
		named = append(named, strconv.Quote(w.word))
	}
	rule := &Rule{
		ID: "words", Verdict: verdict, Strength: Weak, Reason: "no rule knows this failure; its words are those of " + string(verdict) + " ones: " + strings.Join(named, ", "),
		Source: "a logistic regression on recorded failures", file: "built-in/words.tsv", line: 1,
	}
	return Judgement{Verdict: verdict, Rule: rule.ID, Reason: rule.Reason, Matches: []Match{{Rule: rule}}}, true
}
