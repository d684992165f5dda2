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

	"github.com/retrysh/retry/engine/event"
)

// wordsFile has a word, a tab and its weight in hundredths on each line, above
// nought for permanent, in the order of the words.
//
//go:embed words.tsv
var wordsFile string

// weightOf finds a word's weight by binary search: a map of all words would take
// longer to make than one failure takes to judge.
func weightOf(word string) int {
	for low, high := 0, len(wordsFile); low < high; {
		start := low + strings.LastIndexByte(wordsFile[low:low+(high-low)/2], '\n') + 1
		line, _, _ := strings.Cut(wordsFile[start:high], "\n")
		w, number, _ := strings.Cut(line, "\t")
		switch strings.Compare(word, w) {
		case -1:
			high = start
		case 0:
			n, _ := strconv.Atoi(number)
			return n
		case 1:
			low = start + len(line) + 1
		}
	}
	return 0
}

// The sums, in hundredths, from which on a verdict is given: as far out as the
// check by left-out tools asks for. Giving up on what would pass costs more
// than an attempt in vain.
const (
	leanTransient = -120
	leanPermanent = 80
	// overruled is the sum below which the words overrule weak evidence of a
	// permanent failure.
	overruled = -80
	// wordsLeast is how many words have to be known: two say nothing.
	wordsLeast = 3
)

// maxWordLines is how many of the last lines are read.
const maxWordLines = 60

// wordLine is a line of an output and its words.
type wordLine struct {
	start, end int
	words      []string
}

// readWords returns the last lines of an output that are read for words, and what
// of the failure counts like a word.
func readWords(f Failure, out *output) (lines []wordLine, marks []string) {
	named := map[string]bool{}
	for _, arg := range f.Argv {
		eachWord(arg, func(w string) { named[w] = true })
	}
	help, passes := 0, false
	for end, n := len(out.masked), 0; end > 0 && n < maxWordLines; n++ {
		start := strings.LastIndexByte(out.masked[:end], '\n') + 1
		line := wordLine{start: max(start, end-maxLine), end: end}
		switch out.kind(line.start, end) {
		case plainLine, warningLine:
			line.read(out.masked[line.start:end], named)
			lines = append(lines, line)
			passes = passes || isPassing(out.lower[line.start:end])
		case helpLine:
			help++
		}
		end = start - 1
	}
	marks = circumstances(f, out)
	if help >= helpLeast {
		marks = append(marks, helpShown)
	}
	if passes {
		marks = append(marks, passing)
	}
	return lines, marks
}

// read takes the words of the text but those that are named.
func (l *wordLine) read(text string, named map[string]bool) {
	if strings.Contains(text, urlWord) {
		l.words = append(l.words, urlWord)
	}
	before := ""
	eachWord(text, func(w string) {
		if named[w] {
			before = ""
			return
		}
		l.words = append(l.words, w)
		if before != "" {
			l.words = append(l.words, before+" "+w)
		}
		before = w
	})
}

// The circumstances that count like words, named so that no word is the same.
const (
	hostNamed = "(a host in the command)"
	noHost    = "(no host in the command)"
	argShown  = "(an argument in the output)"
	helpShown = "(a help text)"
	passing   = "(a state that passes)"
)

// helpLeast is how many lines of a help text make one.
const helpLeast = 3

// circumstances returns what of the command counts like a word.
func circumstances(f Failure, out *output) (marks []string) {
	if slices.ContainsFunc(f.Argv, namesHost) {
		marks = append(marks, hostNamed)
	} else {
		marks = append(marks, noHost)
	}
	if len(f.Argv) > 1 && slices.ContainsFunc(f.Argv[1:], func(arg string) bool {
		return len(arg) > 2 && arg[0] != '-' && !namesHost(arg) && strings.Contains(out.text, arg)
	}) {
		marks = append(marks, argShown)
	}
	return marks
}

// namesHost reports whether the argument has an address on the network in it.
func namesHost(arg string) bool {
	if strings.Contains(arg, "://") || strings.Contains(arg, "@") {
		return true
	}
	for _, field := range strings.FieldsFunc(arg, func(r rune) bool { return r == '=' || r == ',' || r == '/' || r == ' ' || r == '"' || r == '\'' }) {
		host, port, found := strings.Cut(field, ":")
		if found && host != "" && port != "" && isDigit(port[0]) || strings.Count(host, ".") >= 2 && !strings.HasPrefix(host, ".") {
			return true
		}
	}
	return false
}

// words returns the words of the lines, each once.
func words(lines []wordLine, marks ...string) map[string]bool {
	set := map[string]bool{}
	for _, m := range marks {
		set[m] = true
	}
	for _, l := range lines {
		for _, w := range l.words {
			set[w] = true
		}
	}
	return set
}

// weightiest returns the line whose words say most for the side that sum is on.
func weightiest(lines []wordLine, weight func(word string) int, sum int) (best wordLine) {
	most := -1
	for _, l := range lines {
		n := 0
		for _, w := range l.words {
			n += weight(w)
		}
		if sum < 0 {
			n = -n
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
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
func add(weight func(word string) int, set map[string]bool) (sum int, found []weighed) {
	sum = weight("") // the words that are always there
	for w := range set {
		if n := weight(w); n != 0 {
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

// lean sums up the words of the lines, nought where there are none.
func (t *Table) lean(lines []wordLine, marks []string) (sum int, found []weighed) {
	if len(lines) == 0 || t.words == nil {
		return 0, nil
	}
	sum, found = add(t.words, words(lines, marks...))
	if len(found) < wordsLeast+len(marks) {
		return 0, nil
	}
	return sum, found
}

// overrule reports whether the words speak against a permanent failure.
func (t *Table) overrule(f Failure, out *output) bool {
	sum, _ := t.lean(readWords(f, out))
	return sum < overruled
}

// leansTo returns the verdict for a sum; ok is false where it is near nought.
func leansTo(sum int) (v event.Verdict, ok bool) {
	switch {
	case sum <= leanTransient:
		return event.Transient, true
	case sum >= leanPermanent:
		return event.Permanent, true
	}
	return event.Unknown, false
}

// byWords judges by the words alone; ok is false where they say too little, or may
// be about what a hidden download did not bring.
func (t *Table) byWords(f Failure, out *output) (j Judgement, ok bool) {
	lines, marks := readWords(f, out)
	sum, found := t.lean(lines, marks)
	verdict, ok := leansTo(sum)
	if !ok || verdict == event.Permanent && hidesDownload(f.Argv, out) {
		return Judgement{}, false
	}
	var named []string
	for _, w := range found[:min(4, len(found))] {
		named = append(named, strconv.Quote(w.word))
	}
	rule := &Rule{
		ID: "words", Verdict: verdict, Strength: Weak, builtIn: true, file: "built-in/words.tsv", line: 1,
		Reason: "no rule knows this failure; its words are those of " + string(verdict) + " ones: " + strings.Join(named, ", "),
		Source: "a logistic regression on recorded failures",
	}
	line := weightiest(lines, t.words, sum)
	match := Match{Rule: rule, Stream: "stderr", Line: out.text[line.start:line.end]}
	if line.start < out.stderr {
		match.Stream = "stdout"
	}
	return Judgement{Verdict: verdict, Rule: rule.ID, Reason: rule.Reason, Matches: []Match{match}}, true
}
