package cli

// This file prints the completion scripts. What they offer comes from the
// grammar; how a shell is told stands in completion_SHELL.go.

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// printCompletion writes the script for one of the shells that the grammar
// lists.
func printCompletion(w io.Writer, shell string) error {
	parser, err := newParser(new(grammar))
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, completionHead[shell], "made by: retry --completion "+shell)
	completionBody[shell](&b, parser.Model.Flags)
	_, err = io.WriteString(w, b.String())
	return err
}

// completionHead is how each script begins. The line "#compdef" must be the
// first of zsh's.
var completionHead = map[string]string{
	"bash":       "# bash completion for retry; %s\n",
	"zsh":        "#compdef retry\n# %s\n",
	"fish":       "# fish completion for retry; %s\n",
	"powershell": "# PowerShell completion for retry; %s\n",
}

var completionBody = map[string]func(*strings.Builder, []*kong.Flag){
	"bash":       completeInBash,
	"zsh":        completeInZsh,
	"fish":       completeInFish,
	"powershell": completeInPowerShell,
}

// offered are the words that the grammar lists as a flag's values.
func offered(f *kong.Flag) []string { return strings.Fields(f.Tag.Get("values")) }

// wantsFile reports whether a flag's value names a file.
func wantsFile(f *kong.Flag) bool { return f.PlaceHolder == "FILE" }

// summary is the first sentence of a flag's help, without its default: a
// completion has one line to say it in.
func summary(f *kong.Flag) string {
	text, _, _ := strings.Cut(f.Help, ". ")
	text, _, _ = strings.Cut(text, " (default")
	return strings.TrimSuffix(text, ".")
}

// shorts are the short flags that take a value, or those that take none.
func shorts(flags []*kong.Flag, withValue bool) string {
	var all strings.Builder
	for _, f := range flags {
		if f.Short != 0 && f.IsBool() != withValue {
			all.WriteRune(f.Short)
		}
	}
	return all.String()
}

// longs are the long flags that take a value, with their dashes.
func longs(flags []*kong.Flag) []string {
	var all []string
	for _, f := range flags {
		if !f.IsBool() {
			all = append(all, "--"+f.Name)
		}
	}
	return all
}

// names are all the ways to write a flag.
func names(f *kong.Flag) []string {
	if f.Short == 0 {
		return []string{"--" + f.Name}
	}
	return []string{"-" + string(f.Short), "--" + f.Name}
}
