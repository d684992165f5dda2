package manual

// This file prints the completion scripts. What they offer comes from the
// grammar; the form for each shell is in completion_SHELL.go.

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Completion writes the script for one of the shells that the grammar lists.
func (p *Pages) Completion(w io.Writer, shell string) error {
	var b strings.Builder
	madeBy, flags := "made by: retry --completion "+shell, p.commonFirst()
	switch shell {
	case "bash":
		fmt.Fprintf(&b, "# bash completion for retry; %s\n", madeBy)
		completeInBash(&b, flags)
	case "zsh":
		fmt.Fprintf(&b, "#compdef retry\n# %s\n", madeBy) // zsh wants it to be the first line
		completeInZsh(&b, flags)
	case "fish":
		fmt.Fprintf(&b, "# fish completion for retry; %s\n", madeBy)
		completeInFish(&b, flags)
	case "powershell":
		fmt.Fprintf(&b, "# PowerShell completion for retry; %s\n", madeBy)
		completeInPowerShell(&b, flags)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// commonFirst are the flags with those in front that most people need, for the
// shells that keep the order.
func (p *Pages) commonFirst() []Flag {
	rank := func(f Flag) int {
		for i, c := range Common {
			if c.Name == f.Name {
				return i
			}
		}
		return len(Common)
	}
	flags := p.flags()
	slices.SortStableFunc(flags, func(a, b Flag) int { return rank(a) - rank(b) })
	return flags
}

// wantsFile reports whether a flag's value names a file.
func wantsFile(f Flag) bool { return f.PlaceHolder == "FILE" }

// summary is the first sentence of a flag's help, without its default: a
// completion has one line to say it in.
func summary(f Flag) string {
	text, _, _ := strings.Cut(f.Help, ". ")
	text, _, _ = strings.Cut(text, " (default")
	return strings.TrimSuffix(text, ".")
}

// shorts are the short flags that take a value, or those that take none.
func shorts(flags []Flag, withValue bool) string {
	var all strings.Builder
	for _, f := range flags {
		if f.Short != 0 && f.takesValue() == withValue {
			all.WriteRune(f.Short)
		}
	}
	return all.String()
}

// longs are the long flags that take a value, with their dashes.
func longs(flags []Flag) []string {
	var all []string
	for _, f := range flags {
		if f.takesValue() {
			all = append(all, "--"+f.Name)
		}
	}
	return all
}

// names are all the ways to write a flag.
func names(f Flag) []string {
	if f.Short == 0 {
		return []string{"--" + f.Name}
	}
	return []string{"-" + string(f.Short), "--" + f.Name}
}
