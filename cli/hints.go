package cli

// This file suggests what was meant if the command was not found or the run has failed.

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/text"
)

// builtins are commands of every POSIX shell that are not programs (POSIX.1-2017,
// XCU 2.14 and the utilities of XBD 1.6 that change the shell itself).
var builtins = []string{
	".", ":", "alias", "bg", "break", "cd", "command", "continue", "eval", "exec", "export", "fg", "getopts", "hash",
	"if", "jobs", "local", "read", "readonly", "return", "set", "shift", "shopt", "source", "times", "trap", "type",
	"typeset", "ulimit", "umask", "unalias", "unset", "wait", "while", "for", "until", "case",
}

// notFoundHint suggests what a command that is not found was meant to be, or "".
func notFoundHint(o *option.Options) string {
	argv := o.Command
	first := argv[0]
	if hint := valueHint(o); hint != "" {
		return hint
	}
	name, _, assigns := strings.Cut(first, "=")
	switch _, err := backoff.ParseDuration(first); {
	case option.LooksLikeTarget(first):
		shown := shorten(text.MaskedAddress(first))
		return fmt.Sprintf("%q looks like a target; to wait for it write: retry --wait-for %s", shown,
			text.ShellWord(shown))
	case strings.ContainsAny(first, " \t\n|;&<>") || strings.HasPrefix(first, "(") && first != "(" && first != "((":
		script, words := shorten(text.Masked(first)), ""
		said := fmt.Sprintf("%q is one word; have the shell run it: retry -c ", script)
		if len(argv) > 1 {
			script += ` "$@"`
			words = " " + shown(argv[1:])
		}
		return said + text.ShellQuote(script) + words
	case assigns && isName(name) && len(argv) > 1:
		return "to set a variable write: " + lineOf(o.Own, append([]string{"env"}, argv...))
	case assigns && isName(name):
		return fmt.Sprintf("to set a variable write: retry -- env %s COMMAND", shorten(text.Masked(first)))
	case pasted(first) != first:
		words := slices.Clone(argv)
		for i := range words {
			words[i] = pasted(words[i])
		}
		return fmt.Sprintf("%q begins with a dash that is not \"-\"; write: %s", first, lineOf(o.Own, words))
	case isMode(first):
		return fmt.Sprintf("for the %s of retry itself write: retry --%s", first, first)
	case isFile(first):
		return fmt.Sprintf("%q is a file here; to run it write: %s", first,
			lineOf(o.Own, append([]string{"./" + first}, argv[1:]...)))
	case err == nil:
		return fmt.Sprintf("%q looks like a duration; several values of one flag are separated by commas, as in "+
			"--delays 1s,5s,30s", first)
	}
	if hint := shellHint(argv); hint != "" {
		return hint
	}
	return behindHint(o)
}

// failedHint suggests what was meant if a run has failed, or "": flags of this program
// behind the command, or another shell.
func failedHint(o *option.Options, code int) string {
	if shell := option.Last(o.Settings, "shell"); shell != nil {
		return posixHint(shell.Value, code)
	}
	return behindHint(o)
}

// behindHint suggests what was meant by flags of this program behind the command, or "".
func behindHint(o *option.Options) string {
	if before, flags := option.Behind(o.Command); o.Own != nil && flags != nil {
		return fmt.Sprintf("%s was passed to the command, since it is behind it; to pass it to retry write: %s",
			shown(flags), lineOf(append(o.Own, flags...), before))
	}
	return ""
}

// bareTimeout is the whole number that -t was given, "" if it has a unit or is none.
func bareTimeout(o *option.Options) string {
	limit := option.Last(o.Settings, "timeout")
	if limit == nil || limit.Word != "-t" || strings.Trim(limit.Value, "0123456789") != "" {
		return ""
	}
	return limit.Value
}

// lineOf is the command line that was probably meant. Words that already have flags
// of this program in front are a whole line.
func lineOf(own, words []string) string {
	o, _ := option.Read(words, nil)
	own = append(slices.Clip(own), words[:len(words)-len(o.Command)]...)
	own = slices.DeleteFunc(own, func(word string) bool { return word == "--" })
	line := "retry"
	if len(own) > 0 {
		line += " " + shown(own)
	}
	if len(o.Command) > 0 {
		line += " -- " + shown(o.Command)
	}
	return line
}

// shown writes words for a shell, without secrets.
func shown(words []string) string {
	all := slices.Clone(text.MaskedArgs(words))
	for i, word := range all {
		all[i] = text.ShellWord(shorten(word))
	}
	return strings.Join(all, " ")
}

// pasted is a word whose first dash was replaced by a longer one, as text programs do.
func pasted(word string) string {
	rest := strings.TrimLeft(word, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
	switch {
	case rest == word:
		return word
	case rest == "":
		return "--"
	case utf8.RuneCountInString(rest) < 2 || '0' <= rest[1] && rest[1] <= '9' || rest[1] == '=':
		return "-" + rest
	}
	return "--" + rest
}

func isMode(word string) bool {
	f := option.ByName(word)
	return f != nil && f.IsMode() || modeOf(ownModes, "--"+word) >= 0
}

// isFile reports whether a word without a slash is the name of a file here.
func isFile(word string) bool {
	info, err := os.Stat(word)
	return err == nil && info.Mode().IsRegular() && !strings.ContainsAny(word, `/\`)
}

// isName reports whether s can be a variable's name (POSIX, XBD 3.231).
func isName(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "" &&
		(s[0] < '0' || s[0] > '9')
}
