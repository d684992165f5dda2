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

// Width is the width in columns that the help is made for, helpIndent where the text
// about a flag begins, and narrowIndent where it begins on a narrower terminal.
const (
	Width        = 80
	helpIndent   = 27
	narrowIndent = 8
)

// sheet is a page of the help as it is written, in so many columns.
type sheet struct {
	strings.Builder
	width int
}

// newSheet is an empty page for a terminal of so many columns; 0 is no terminal.
func newSheet(columns int) *sheet {
	if columns <= 0 {
		return &sheet{width: Width}
	}
	return &sheet{width: min(max(columns, 2*narrowIndent), Width)}
}

// commonOfModes are flags of every mode with flags of its own.
const commonOfModes = `
Every mode also has --log-format text|json, --color WHEN, -q, -v and --no-env.
`

// Help is the help, each flag with its unit and default, for a terminal of so many
// columns.
func (p Pages) Help(columns int) string {
	s := newSheet(columns)
	for _, group := range p {
		s.WriteString("\n")
		s.group(group)
	}
	return s.fill(marked("help.txt", "@FLAGS@", s.String(), "@ABOUT@", page("about.txt"), "@EXAMPLES@",
		page("examples.txt")))
}

func (s *sheet) group(g Group) {
	s.paragraph(g.Title + ":")
	if g.Text != "" {
		s.paragraph(g.Text)
	}
	for _, f := range g.Flags {
		s.flag(f.head(), f.text())
	}
}

func (s *sheet) paragraph(words string) {
	for _, line := range text.Wrap(words, s.width) {
		s.WriteString(line + "\n")
	}
}

// fill breaks the lines of a page that are wider than the sheet. Indented lines are left
// as they are: they are broken already, or are commands to copy.
func (s *sheet) fill(page string) string {
	filled := newSheet(s.width)
	for line := range strings.Lines(page) {
		if len(line) <= s.width+len("\n") || line[0] == ' ' {
			filled.WriteString(line)
		} else {
			filled.paragraph(line)
		}
	}
	return filled.String()
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
func (p Pages) Topic(word string, columns int) string {
	name := strings.TrimLeft(word, "-")
	s := newSheet(columns)
	for _, g := range p {
		switch {
		case g.Mode != "" && g.Mode == name:
			return p.modeHelp(name, s)
		case g.Name == word:
			s.group(g)
			return s.String()
		}
	}
	for _, g := range p {
		for _, f := range g.Flags {
			if f.Name != name && (f.short() != name || name == word) {
				continue
			}
			if s.Len() > 0 {
				s.WriteString("\n")
			}
			s.flag(f.head(), f.text())
			if g.Mode != "" {
				fmt.Fprintf(s, "\nA flag of --%s: retry --help %[1]s.\n", g.Mode)
			} else {
				fmt.Fprintf(s, "\nAll flags of its section: retry --help %s.\n", g.Name)
			}
		}
	}
	return s.fill(s.String())
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
func (p Pages) Brief(columns int) string {
	s := newSheet(columns)
	sections := strings.Join(text.Wrap("Sections of --help WORD: "+strings.Join(p.Sections(), ", ")+".", s.width), "\n")
	marks := []string{"@EXAMPLES@", page("examples.txt"), "@SECTIONS@", sections}
	for _, c := range common() {
		f := p.flag(c.name)
		if f.preset() != "" && f.preset() != "0" && c.name != "classify" {
			c.text += " (" + f.preset() + ")"
		}
		if s.width < Width {
			flag := newSheet(columns)
			flag.flag(f.head(), c.text)
			marks = append(marks, c.line, flag.String())
			continue
		}
		marks = append(marks, c.line, fmt.Sprintf("%-*s %s\n", helpIndent, f.head(), c.text))
	}
	return s.fill(marked("brief.txt", marks...))
}

// modeHelp is the help of one mode.
func (p Pages) modeHelp(name string, s *sheet) string {
	group := p[slices.IndexFunc(p, func(g Group) bool { return g.Mode == name })]
	mode, flags := group.Flags[0], group.Flags[1:]
	fmt.Fprintf(s, "Usage: retry --%s [FLAGS]\n\n", strings.TrimSpace(name+" "+mode.PlaceHolder))
	s.paragraph(mode.Help)
	if len(flags) > 0 {
		s.WriteString("\n")
	}
	for _, f := range flags {
		s.flag(f.head(), f.text())
	}
	if group.OwnGrammar {
		s.WriteString(commonOfModes)
	}
	if !group.OwnGrammar || name == "redrive" {
		s.WriteString("\nThe flags of a run: retry --help.\n")
	}
	return s.fill(s.String())
}

// head is how the flag is written.
func (f Flag) head() string {
	head := "      --" + f.Name
	if f.short() != "" {
		head = "  -" + f.short() + ", --" + f.Name
	}
	return strings.TrimRight(head+" "+f.PlaceHolder, " ")
}

// flag writes how a flag is written, and beside or below it what it does.
func (s *sheet) flag(head, about string) {
	indent := helpIndent
	if s.width < Width {
		indent = narrowIndent
		head = strings.Replace(head, "      ", "  ", 1)
	}
	if len(head)+2 > indent {
		s.WriteString(head + "\n")
		head = ""
	}
	for _, line := range text.Wrap(about, s.width-indent) {
		fmt.Fprintf(s, "%-*s%s\n", indent, head, line)
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
