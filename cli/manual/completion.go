package manual

// This file prints the completion scripts: pages/retry.SHELL, with the flags of the
// program in the form of each shell. A script reads the flags as the program does, and
// leaves the words after them to the completion of the command.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Completion is the script for one of the shells that --completion lists.
func (p Pages) Completion(shell string) string {
	declare := map[string]func(Flag) string{
		"bash": inBash, "zsh": inZsh, "fish": inFish, "powershell": inPowerShell,
	}[shell]
	or := "|"
	if shell == "fish" {
		or = " "
	}
	var names, valued []string
	var flags, switches, letters string
	for _, f := range p.commonFirst() {
		names = append(names, "--"+f.Name)
		flags += declare(f)
		if f.IsBool() {
			switches += f.short()
			continue
		}
		valued = append(valued, "--"+f.Name)
		letters += f.short()
	}
	return marked("retry."+shell, "@FLAGS@", flags, "@NAMES@", strings.Join(names, " "),
		"@LONG@", strings.Join(valued, or), "@BOOL@", switches, "@VALUE@", letters)
}

// commonFirst are all flags, those of -h first, for the shells that keep the order.
func (p Pages) commonFirst() []Flag {
	rank := map[string]int{}
	flags := p.flags()
	for i, c := range common() {
		rank[c.name] = i - len(flags)
	}
	slices.SortStableFunc(flags, func(a, b Flag) int { return cmp.Compare(rank[a.Name], rank[b.Name]) })
	return flags
}

// isFile reports whether the value names a file.
func (f Flag) isFile() bool { return f.PlaceHolder == "FILE" }

// written are all the ways to write the flag.
func (f Flag) written() []string {
	if f.short() == "" {
		return []string{"--" + f.Name}
	}
	return []string{"-" + f.short(), "--" + f.Name}
}

// summary is the first sentence of the help, without the default.
func (f Flag) summary() string {
	text, _, _ := strings.Cut(f.Help, ". ")
	text, _, _ = strings.Cut(text, " (default")
	return strings.TrimSuffix(text, ".")
}

// inBash is the case of a flag whose values are known.
func inBash(f Flag) string {
	offer := "__retry_files"
	if len(f.Words()) > 0 {
		offer = `__retry_reply -W "` + strings.Join(f.Words(), " ") + `"`
	} else if !f.isFile() {
		return ""
	}
	return "        " + strings.Join(f.written(), "|") + ") " + offer + "; return ;;\n"
}

// inZsh is the specification for _arguments of each way to write a flag. An action
// of a blank offers nothing.
func inZsh(f Flag) string {
	quote := strings.NewReplacer(`'`, `'\''`, `\`, `\\`, `[`, `\[`, `]`, `\]`, `:`, `\:`).Replace
	action := " "
	switch {
	case f.isFile():
		action = "_files"
	case len(f.Words()) > 0:
		action = "(" + quote(strings.Join(f.Words(), " ")) + ")"
	}
	excludes := "(" + strings.Join(f.written(), " ") + ")"
	if f.IsSlice() {
		excludes = "*"
	}
	value := ""
	if !f.IsBool() {
		value = ":" + quote(f.PlaceHolder) + ":" + action
	}
	lines := ""
	for _, name := range f.written() {
		switch {
		case f.IsBool():
		case strings.HasPrefix(name, "--"):
			name += "="
		default:
			name += "+"
		}
		lines += "        '" + excludes + name + "[" + quote(f.summary()) + "]" + value + "' \\\n"
	}
	return lines
}

// inFish is the command that declares a flag.
func inFish(f Flag) string {
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace
	line := "complete -c retry -n __retry_in_flags"
	if f.short() != "" {
		line += " -s " + f.short()
	}
	line += " -l " + f.Name
	switch {
	case f.isFile():
		line += " -r -F"
	case len(f.Words()) > 0:
		line += " -x -a '" + quote(strings.Join(f.Words(), " ")) + "'"
	case !f.IsBool():
		line += " -x"
	}
	return line + " -d '" + quote(f.summary()) + "'\n"
}

// inPowerShell is the object of a flag.
func inPowerShell(f Flag) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	var values []string
	for _, v := range f.Words() {
		values = append(values, quote(v))
	}
	return fmt.Sprintf("        [pscustomobject]@{ Name = '--%s'; Short = '%s'; TakesValue = $%t; "+
		"Values = @(%s); Help = %s }\n",
		f.Name, f.short(), !f.IsBool(), strings.Join(values, ", "), quote(f.summary()))
}
