package text

import "strings"

// ShellWord writes s as one word of the shell, in quotes if it needs them.
func ShellWord(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n|;&<>()$`\\\"'*?[]#!{}") {
		return ShellQuote(s)
	}
	return s
}

// ShellQuote writes s in the quotes of the shell.
func ShellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
