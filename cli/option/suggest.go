package option

// This file suggests what was meant by words that are no flag, by variables that are
// those of no flag, and by flags behind the command.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/text"
)

// unknownFlag is the error for a word of a command line that is no flag: what was probably
// meant, as a line that can be pasted if that is certain.
func unknownFlag(line []string, at int) error {
	word := line[at]
	unknown := fmt.Sprintf("unknown flag %q", word)
	if name, value, blank := strings.Cut(word, " "); blank {
		if _, takesNext, ok := flagsOf(Table(), name); ok && takesNext {
			return inOneWord(name, word, value)
		}
	}
	name := normal(strings.TrimLeft(word, "-"))
	if mode, value, joined := strings.Cut(name, "="); joined && manual.IsMode(mode) {
		return fmt.Errorf("--%s takes what it is about as the next words; write: retry --%[1]s %s", mode,
			text.ShellWord(text.Masked(value)))
	}
	modes := manual.ModesOf(name)
	if len(modes) > 0 {
		unknown += "; it belongs to --" + strings.Join(modes, " and --")
	}
	own, script, behindScript := scriptBefore(line[:at])
	if behindScript && !strings.HasPrefix(word, "--") {
		return oneScript(own, append([]string{script}, line[at:]...))
	}
	if err := calledElsewhere(line, at, unknown); err != nil {
		return err
	}
	if len(modes) > 0 {
		return errors.New(unknown)
	}
	near := Suggest(word)
	if behindScript && len(near) == 0 {
		return oneScript(own, append([]string{script}, line[at:]...))
	}
	for i := range near {
		near[i] = "--" + near[i]
	}
	if letter, value, joined := strings.Cut(strings.TrimPrefix(word, "--"), "="); isShort(letter) {
		spelled := []string{"-" + letter}
		if joined {
			spelled = append(spelled, value)
		}
		spelled = slices.Concat(line[:at], spelled, line[at+1:])
		return fmt.Errorf("%s, did you mean \"-%s\"?%s", unknown, letter, toPaste(spelled))
	}
	switch len(near) {
	case 0:
		return fmt.Errorf("%s; write -- before a command that begins with a dash", unknown)
	case 1:
		spelled := slices.Clone(line)
		_, value, joined := strings.Cut(word, "=")
		spelled[at] = near[0]
		if joined {
			spelled[at] += "=" + value
		}
		return fmt.Errorf("%s, did you mean %q?%s", unknown, near[0], toPaste(spelled))
	}
	return fmt.Errorf("%s, did you mean one of %s?", unknown, `"`+strings.Join(near, `", "`)+`"`)
}

// scriptBefore finds -c and its script at the end of words, behind own.
func scriptBefore(words []string) (own []string, script string, found bool) {
	n := len(words)
	if n > 1 && (words[n-2] == "-c" || words[n-2] == "--shell") {
		return words[:n-2], words[n-1], true
	}
	if n > 0 {
		script, found = strings.CutPrefix(words[n-1], "--shell=")
		own = words[:n-1]
	}
	return own, script, found
}

// oneScript is the error for words behind -c SCRIPT that were probably meant for the command,
// as in -c make -j4. command begins with the script.
func oneScript(own, command []string) error {
	words := slices.Concat(own, []string{"-c", strings.Join(command, " ")})
	return fmt.Errorf("unknown flag %q; one command line of -c is one word;%s", command[1], toPaste(words))
}

// isShort reports whether a letter is the short name of a flag.
func isShort(letter string) bool {
	return letter != "" && first(Table(), func(f *Flag) bool { return f.Tag("short") == letter }) != nil
}

// inOneWord is the error for a flag and its value in one word.
func inOneWord(name, word, value string) error {
	two := name + " " + text.ShellWord(strings.TrimSpace(value))
	if strings.Contains(value, " -") {
		whole := strings.Join(strings.Fields(word), " ")
		return fmt.Errorf("%q is several flags in one word; write each word by itself, %s", word, whole)
	}
	return fmt.Errorf("%q is a flag and its value in one word; write two, %s", word, two)
}

// unknownToMode is the error for a word that is no flag of a mode.
func unknownToMode(known []Flag, word string) error {
	word, _, _ = strings.Cut(word, "=")
	near := suggest(known, word)
	if quoted := strconv.Quote(word); quoted != `"`+word+`"` {
		word = quoted
	}
	if len(near) == 0 || ByName(strings.TrimLeft(word, "-")) != nil { // one of a run
		return fmt.Errorf("unknown flag %s", word)
	}
	return fmt.Errorf("unknown flag %s, did you mean \"--%s\"?", word, strings.Join(near, "\" or \"--"))
}

// valueMissing is the error for a flag without its value, before token: what is in the
// value's place, and how the flag is written.
func valueMissing(s *Setting, token kong.Token) error {
	what, write := "the command line ends here", s.Word+" "+manual.Placeholder(s.Flag.name)
	if f := ByName(s.Flag.name); f != nil && f.Preset() != "" && f.Preset() != "0" { // no limit
		write += ", as in " + s.Word + " " + f.Preset()
	}
	if !token.IsEOL() {
		what = fmt.Sprintf("%q begins with a dash", token)
		if token.String() == "--" {
			what = `"--" ends the flags`
		}
		if word := token.String(); !strings.ContainsFunc(word, unicode.IsControl) {
			write += fmt.Sprintf("; %s gives it that value", text.ShellWord("--"+s.Flag.name+"="+word))
		}
	}
	return Usage(s.Word, fmt.Errorf("needs a value, and %s; write %s", what, write))
}

// equalsSign is the error for -n=5.
func equalsSign(f *Flag, value string) error {
	short := "-" + f.Tag("short")
	if write := strconv.Quote(value); write != `"`+value+`"` {
		value = manual.Placeholder(f.name)
	}
	return Usage(short, fmt.Errorf("%q: a short flag takes no \"=\"; write %s %s", "="+value, short, value))
}

// shortestName is the length from which on a name may be near another one.
const shortestName = 3

// Suggest returns the names of the flags that an unknown word may mean: the same name
// written otherwise, or names that differ by a letter or two, or go on after the word. A
// name that shares half of its letters with the word, or less, is none of them.
func Suggest(word string) []string { return suggest(Table(), word) }

func suggest(known []Flag, word string) (near []string) {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	name = normal(name)
	if len(name) < shortestName {
		return nil
	}
	if f := sameWords(known, name); f != nil {
		return []string{f.name}
	}
	for _, f := range known {
		if (strings.HasPrefix(f.name, name) || Near(f.name, name, 2)) &&
			2*shared(f.name, name) > max(len(f.name), len(name)) {
			near = append(near, f.name)
		}
	}
	return near
}

// shared counts the letters that two names share, whatever their order.
func shared(a, b string) (n int) {
	for letter := 'a'; letter <= 'z'; letter++ {
		n += min(strings.Count(a, string(letter)), strings.Count(b, string(letter)))
	}
	return n + min(strings.Count(a, "-"), strings.Count(b, "-"))
}

// Misnamed returns a line for each variable that was probably meant for a flag and
// sets none: one or two letters off, or set for commands by the program itself
// (docs/environment.md).
func Misnamed(environ []string) (lines []string) {
	nested, limit := false, false
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "RETRY_") || value == "" {
			continue
		}
		nested, limit = nested || name == "RETRY_DEPTH", limit || name == "RETRY_MAX_ATTEMPTS"
		if flagOf(Table(), name) != nil || engine.SetsVariable(name) {
			continue
		}
		if meant := variablesFor(name, value); meant != "" {
			lines = append(lines,
				fmt.Sprintf("%s is not the variable of a flag and is ignored; did you mean %s?", name, meant))
		}
	}
	if limit && !nested {
		lines = append(lines,
			"RETRY_MAX_ATTEMPTS is set for commands and does not limit attempts; did you mean RETRY_ATTEMPTS?")
	}
	return lines
}

// variablesFor returns the variables that were probably meant by one that is no flag's: what
// other programs call so, with the value, or the nearest name.
func variablesFor(name, value string) string {
	var meant []string
	other := strings.TrimPrefix(name, "RETRY_")
	if len(other) <= shortestName {
		return nearest(name) // RETRY_MAX and its like are variables of scripts
	}
	for _, s := range InOwnWords(other, value) {
		if f := ByName(s[0]); f.HasVariable() {
			meant = append(meant, f.Variable()+"="+text.ShellWord(s[1]))
		}
	}
	if len(meant) > 0 {
		return text.Masked(strings.Join(meant, " "))
	}
	return nearest(name)
}

// nearest returns the variable that differs least, "" if there is none: by a letter
// or two, of a short one by a letter or by the order of its letters.
func nearest(name string) string {
	letters := func(s string) []string { return slices.Sorted(strings.SplitSeq(s, "")) }
	for n := 1; n <= 2; n++ {
		for _, f := range Table() {
			other := f.Variable()
			if f.HasVariable() && Near(name, other, n) &&
				(n < 2 || len(other) > shortVariable || slices.Equal(letters(name), letters(other))) {
				return other
			}
		}
	}
	return ""
}

// shortVariable is the length up to which two letters are half of a name.
const shortVariable = len("RETRY_") + 4

// Near reports whether a is b after at most n insertions, deletions and replacements
// of a letter (Levenshtein).
func Near(a, b string, n int) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if a == "" || b == "" || n == 0 {
		return len(a)+len(b) <= n
	}
	return Near(a[1:], b, n-1) || Near(a, b[1:], n-1) || Near(a[1:], b[1:], n-1)
}

// mostBehind is how many words at the end of a command may be flags of a run.
const mostBehind = 16

// Behind splits a command whose last words are flags of a run: they were probably
// meant for retry. Switches alone, such as -v, are most often meant for the
// command, and do not count.
func Behind(command []string) (before, flags []string) {
	for i := max(1, len(command)-mostBehind); i < len(command); i++ {
		if len(command[i]) < 2 || command[i][0] != '-' {
			continue
		}
		o, err := Read(command[i:], nil)
		of := func(test func(*Flag) bool) bool {
			return slices.ContainsFunc(o.Settings, func(s Setting) bool { return test(s.Flag) })
		}
		if err == nil && len(o.Command) == 0 && of(func(f *Flag) bool { return !f.IsBool() }) &&
			!of(func(f *Flag) bool { return !f.HasVariable() }) {
			return command[:i], command[i:]
		}
	}
	return command, nil
}
