package cli

// This file says what was probably meant where there was no command to start.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/message"
)

// builtins are commands of every POSIX shell that are not programs (POSIX.1-2017,
// XCU 2.14 and the utilities of XBD 1.6 that change the shell itself).
var builtins = []string{
	".", ":", "alias", "bg", "break", "cd", "command", "continue", "eval", "exec", "export", "fg", "getopts", "hash", "if", "jobs", "local", "read",
	"readonly", "return", "set", "shift", "shopt", "source", "times", "trap", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait", "while", "for", "until", "function", "declare",
}

// notFoundHint says what a command that is not found was probably meant to be,
// "" where nothing is near.
func notFoundHint(argv []string) string {
	first := argv[0]
	name, _, assigns := strings.Cut(first, "=")
	switch _, err := backoff.ParseDuration(first); {
	case option.LooksLikeTarget(first):
		shown := shorten(option.MaskedTarget(first))
		word := shown
		if strings.ContainsAny(word, " \t\n|;&<>()$`\\\"'*?[]#!{}") {
			word = quoteShell(word)
		}
		return fmt.Sprintf("%q looks like a target; to wait for it write: retry --wait-for %s", shown, word)
	case strings.ContainsAny(first, " \t\n|;&<>"):
		shown := shorten(message.Masked(first))
		script, words := shown, ""
		if len(argv) > 1 {
			script, words = shown+` "$@"`, " ARG..."
		}
		return fmt.Sprintf("%q is one word; have the shell run it: retry -c %s%s", shown, quoteShell(script), words)
	case assigns && isName(name):
		return fmt.Sprintf("to set a variable write: retry -- env %s COMMAND", shorten(message.Masked(first)))
	case slices.Contains(builtins, first):
		return fmt.Sprintf("%q is a command of the shell itself; have the shell run it: retry -c %s", first, quoteShell(strings.Join(argv, " ")))
	case strings.Trim(first, "0123456789") == "" && first != "" && len(argv) > 1:
		return fmt.Sprintf("%q is a number; how often to run the command is written: retry -n %s -- %s", first, first, shorten(strings.Join(argv[1:], " ")))
	case first == "help" || first == "version":
		return fmt.Sprintf("for the %s of retry itself write: retry --%s", first, first)
	case err == nil:
		return fmt.Sprintf("%q looks like a duration; several values of one flag are separated by commas, as in --delays 1s,5s,30s", first)
	}
	return ""
}

// isName reports whether s can be a variable's name (POSIX, XBD 3.231).
func isName(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "" && (s[0] < '0' || s[0] > '9')
}

// quoteShell writes s as one word of the shell.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
