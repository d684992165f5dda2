package cli

// This file suggests what was meant by first words that are no command: values, shell
// syntax, functions.

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/text"
)

// lists are the flags whose values are lists with commas.
var lists = []string{"on-exit", "stop-on-exit", "success-on-exit", "delays"}

// units are words for units of time behind a number, with their letters.
var units = map[string]string{
	"ms": "ms", "milliseconds": "ms",
	"s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
	"m": "m", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"h": "h", "hour": "h", "hours": "h",
	"d": "d", "day": "d", "days": "d",
}

// valueHint suggests what was meant by a first word that belongs to the flag before it, or
// stands for a flag, or "".
func valueHint(o *option.Options) string {
	argv := o.Command
	if own := o.Own; len(own) > 1 {
		last := o.Settings[len(o.Settings)-1]
		for _, s := range o.Settings {
			if s.Source == option.FromCommandLine {
				last = s
			}
		}
		before, value := own[:len(own)-1], own[len(own)-1]
		switch unit := units[strings.ToLower(argv[0])]; {
		case value != last.Value:
		case slices.Contains(lists, last.Flag.Name()) && isItem(last.Flag, argv[0]):
			n := 1
			for n < len(argv) && isItem(last.Flag, argv[n]) {
				n++
			}
			list := strings.Join(append([]string{value}, argv[:n]...), ",")
			meant := lineOf(append(slices.Clone(before), list), argv[n:])
			return "several values of one flag are separated by commas; write: " + meant
		case unit != "" && option.IsNumber(value):
			return "a number and its unit are one word; write: " +
				lineOf(append(slices.Clone(before), value+unit), argv[1:])
		}
	}
	switch {
	case len(argv) < 2:
	case option.IsNumber(argv[0]) && isValue(argv[1]) && len(argv) > 2: // times and delay, as other programs have them
		return "numbers are values of flags; write: " + lineOf([]string{"-n", argv[0], "--delays", argv[1]}, argv[2:])
	case option.IsNumber(argv[0]):
		meant := lineOf([]string{"-n", argv[0]}, argv[1:])
		return fmt.Sprintf("%q is a number; how often to run the command is written: %s", argv[0], meant)
	case len(argv[0]) > 1 && argv[0][0] == '-':
		if l, err := option.Read(argv, nil); err == nil && len(l.Command) > 0 && len(l.Own) > 0 {
			return fmt.Sprintf("\"--\" ends the flags, so %q is the command; write: %s", argv[0], lineOf(o.Own, argv))
		}
	}
	return ""
}

// isItem reports whether a word can be an item of a list that is the value of a flag.
func isItem(f *option.Flag, word string) bool {
	_, err := option.Read([]string{"--" + f.Name() + "=" + word}, nil)
	return err == nil
}

// isValue reports whether a word is a number or a duration.
func isValue(s string) bool {
	_, err := backoff.ParseDuration(s)
	return err == nil && s[0] >= '0' && s[0] <= '9'
}

// bashWords are words of bash's syntax that the POSIX shell lacks.
var bashWords = []string{"[[", "source", "shopt", "declare", "function", "let", "mapfile", "readarray", "pushd", "popd"}

// shellWords are words of the shell's syntax, which stand unquoted in a script.
var shellWords = []string{"[[", "]]", "!", "(", ")", "{", "}", "((", "))"}

// scriptOf is the script that words are, as the shell would read them.
func scriptOf(argv []string) string {
	words := slices.Clone(text.MaskedArgs(argv))
	for i, word := range words {
		if !slices.Contains(shellWords, word) {
			words[i] = text.ShellWord(shorten(word))
		}
	}
	return strings.Join(words, " ")
}

// shellHint suggests what was meant by a first word that only a shell knows, or "".
func shellHint(argv []string) string {
	first := argv[0]
	const (
		byShell = "have the shell run it: retry -c "
		byBash  = "have bash run it: retry -- bash -c "
		quoted  = "was in quotes, so the shell has not replaced it; write it without them, or: retry -c "
	)
	switch {
	case slices.Contains(bashWords, first):
		return fmt.Sprintf("%q is a command of bash itself; %s%s", first, byBash, text.ShellQuote(scriptOf(argv)))
	case slices.Contains(builtins, first) || slices.Contains(shellWords, first):
		return fmt.Sprintf("%q is a command of the shell itself; %s%s", first, byShell, text.ShellQuote(scriptOf(argv)))
	case os.Getenv("BASH_FUNC_"+first+"%%") != "":
		return fmt.Sprintf("%q is a function of bash; %s%s", first, byBash, text.ShellQuote(scriptOf(argv)))
	case strings.HasPrefix(first, "$") || strings.HasPrefix(first, "~"):
		return fmt.Sprintf("%q %s%s", first, quoted, text.ShellQuote(expanding(first, argv[1:])))
	case strings.ContainsAny(first, "*?"):
		pattern := first
		if !strings.Contains(pattern, "/") {
			pattern = "./" + pattern
		}
		return fmt.Sprintf("%q %s%s", first, quoted, text.ShellQuote(expanding(pattern, argv[1:])))
	}
	return ""
}

// expanding is a script whose first word the shell is to expand.
func expanding(first string, rest []string) string {
	all := text.Masked(first)
	if len(rest) > 0 {
		all += " " + scriptOf(rest)
	}
	return all
}

// bashisms are parts of scripts that the POSIX shell does not know.
var bashisms = []string{
	"[[", "source ", "<(", ">(", "pipefail", "&>", "<<<", "function ", "shopt ", "declare ", "=(", "((", "pushd ",
}

// posixHint says what -c runs, if a script that has words of bash has failed as one that the
// shell cannot read; otherwise it is "".
func posixHint(script string, code int) string {
	if code != 127 && code != 2 && code != 1 {
		return ""
	}
	if !slices.ContainsFunc(bashisms, func(part string) bool { return strings.Contains(script, part) }) {
		return ""
	}
	const meant = "-c runs /bin/sh, which may not know the syntax of bash; write: retry -- bash -c "
	return meant + text.ShellQuote(shorten(text.Masked(script)))
}
