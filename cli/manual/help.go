// Package manual makes what can be read without the network: the help, the manual page
// and the completion scripts of the shells. All of it is made from the flags, which are
// kong's model of them, and the texts beside this file.
package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retrysh/retry/engine/text"
)

// Width is the width in columns that the help is made for, and helpIndent where the
// text about a flag begins.
const (
	Width      = 80
	helpIndent = 27
)

// commonOfModes are flags of every mode with flags of its own.
const commonOfModes = `
Every mode also has --log-format text|json, --color WHEN, -q, -v and --no-env.
`

// Help is the help, each flag with its unit and default.
func (p Pages) Help() string {
	var b strings.Builder
	for _, group := range p {
		writeGroup(&b, group)
	}
	return marked("help.txt", "@FLAGS@", b.String(), "@ABOUT@", page("about.txt"), "@EXAMPLES@", page("examples.txt"))
}

func writeGroup(b *strings.Builder, g Group) {
	b.WriteString("\n" + g.Title + ":\n")
	for _, line := range text.Wrap(g.Text, Width) {
		b.WriteString(line + "\n")
	}
	for _, f := range g.Flags {
		writeFlag(b, f)
	}
}

// Sections are the names of the sections of a run's flags.
func (p Pages) Sections() (names []string) {
	for _, g := range p {
		if g.Name != "" {
			names = append(names, g.Name)
		}
	}
	return names
}

// Topic is the help on a section, a mode or a flag, "" if it is none of these. A word that
// begins with a dash is no section.
func (p Pages) Topic(word string) string {
	name := strings.TrimLeft(word, "-")
	var b strings.Builder
	for _, g := range p {
		switch {
		case g.Mode != "" && g.Mode == name:
			return p.ModeHelp(name)
		case g.Name == word:
			writeGroup(&b, g)
			return b.String()[1:]
		}
	}
	for _, g := range p {
		for _, f := range g.Flags {
			if f.Name != name && (f.short() != name || name == word) {
				continue
			}
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			writeFlag(&b, f)
			if g.Mode != "" {
				fmt.Fprintf(&b, "\nA flag of --%s: retry --help %[1]s.\n", g.Mode)
			} else {
				fmt.Fprintf(&b, "\nOf the section %s: retry --help %[1]s.\n", g.Name)
			}
		}
	}
	return b.String()
}

// commonFlag is a flag that most people need, with a text that fits on a line.
type commonFlag struct{ line, name, text string }

// common are the flags of -h, which are lines "@NAME TEXT" of its page.
func common() (all []commonFlag) {
	for line := range strings.Lines(page("brief.txt")) {
		name, text, isFlag := strings.Cut(strings.TrimPrefix(line, "@"), " ")
		if isFlag && line[0] == '@' {
			all = append(all, commonFlag{line, name, strings.TrimSuffix(text, "\n")})
		}
	}
	return all
}

// Brief is the help that fits on one screen.
func (p Pages) Brief() string {
	sections := strings.Join(text.Wrap("Sections of --help WORD: "+strings.Join(p.Sections(), ", ")+".", Width), "\n")
	marks := []string{"@EXAMPLES@", page("examples.txt"), "@SECTIONS@", sections}
	for _, c := range common() {
		f := p.flag(c.name)
		if f.preset() != "" && f.preset() != "0" && c.name != "classify" {
			c.text += " (" + f.preset() + ")"
		}
		marks = append(marks, c.line, fmt.Sprintf("%-*s %s\n", helpIndent, f.head(), c.text))
	}
	return marked("brief.txt", marks...)
}

// ModeHelp is the help of one mode.
func (p Pages) ModeHelp(name string) string {
	group := p[slices.IndexFunc(p, func(g Group) bool { return g.Mode == name })]
	var b strings.Builder
	mode, flags := group.Flags[0], group.Flags[1:]
	fmt.Fprintf(&b, "Usage: retry --%s [FLAGS]\n\n%s\n", strings.TrimSpace(name+" "+mode.PlaceHolder), strings.Join(text.Wrap(mode.Help, Width), "\n"))
	if len(flags) > 0 {
		b.WriteString("\n")
	}
	for _, f := range flags {
		writeFlag(&b, f)
	}
	if group.OwnGrammar {
		b.WriteString(commonOfModes)
	}
	if !group.OwnGrammar || name == "redrive" {
		b.WriteString("\nThe flags of a run: retry --help.\n")
	}
	return b.String()
}

// head is how the flag is written.
func (f Flag) head() string {
	head := "      --" + f.Name
	if f.short() != "" {
		head = "  -" + f.short() + ", --" + f.Name
	}
	return strings.TrimRight(head+" "+f.PlaceHolder, " ")
}

func writeFlag(b *strings.Builder, f Flag) {
	head := f.head()
	if len(head)+2 > helpIndent {
		b.WriteString(head + "\n")
		head = ""
	}
	for _, line := range text.Wrap(f.text(), Width-helpIndent) {
		fmt.Fprintf(b, "%-*s%s\n", helpIndent, head, line)
		head = ""
	}
}

// text is the help with the default.
func (f Flag) text() string {
	if f.preset() != "" {
		return f.Help + " (default " + f.preset() + ")"
	}
	return f.Help
}
