package manual

// This file prints the manual page: the help's words and flags, set in
// man(7).

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/retrysh/retry/engine/text"
)

const manHead = `.TH RETRY 1 "%s" "retry" "User Commands"
.SH NAME
retry \- run a command again until it succeeds
.SH SYNOPSIS
.B retry
.RI [ FLAGS "] [" \-\- "] " COMMAND " [" ARG ...]
.SH DESCRIPTION
`

const manTail = `.SH SEE ALSO
.BR timeout (1),
.BR nohup (1),
.BR env (1)
`

// lastChange is the day of the page where the build does not know its commit's.
const lastChange = "2026-11-22"

// sections are the parts of the page that no flag's help says: "# TITLE" begins
// one, "= TERM" a paragraph with a hanging tag, "| LINE" is shown as it stands.
//
//go:embed sections.txt
var sections string

// manWidth bounds the lines of the source, as mandoc's lint asks for.
const manWidth = 72

// Man writes the page.
func (p *Pages) Man(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, manHead, cmp.Or(p.Date, lastChange))
	b.WriteString(roff(helpAbout))
	b.WriteString(".SH OPTIONS\n")
	for _, group := range p.Groups {
		b.WriteString(".SS " + roff(group.Title) + "\n")
		for _, f := range group.Flags {
			manFlag(&b, f)
		}
	}
	manSections(&b)
	b.WriteString(".SH EXAMPLES\n.EX\n" + roff(helpExamples) + ".EE\n" + manTail)
	_, err := io.WriteString(w, b.String())
	return err
}

// manSections sets the sections.
func manSections(b *strings.Builder) {
	shown, plain := false, false // the lines before: shown as they stand, a paragraph
	for line := range strings.Lines(sections) {
		line = strings.TrimSuffix(line, "\n")
		literal, isLiteral := strings.CutPrefix(line, "|")
		if shown && !isLiteral {
			b.WriteString(".EE\n")
		}
		if isLiteral && !shown {
			b.WriteString(".EX\n")
		}
		shown = isLiteral
		title, isTitle := strings.CutPrefix(line, "# ")
		term, isTerm := strings.CutPrefix(line, "= ")
		switch {
		case isLiteral:
			b.WriteString(roff(strings.TrimPrefix(literal, " ")) + "\n")
		case isTitle:
			b.WriteString(".SH " + roff(title) + "\n")
			plain = false
		case isTerm:
			b.WriteString(".TP\n\\fB" + roff(term) + "\\fR\n")
			plain = false
		case line != "":
			if plain {
				b.WriteString(".PP\n")
			}
			plain = true
			b.WriteString(roff(strings.Join(text.Wrap(line, manWidth), "\n")) + "\n")
		}
	}
}

func manFlag(b *strings.Builder, f Flag) {
	b.WriteString(".TP\n")
	var written []string
	for _, name := range names(f) {
		written = append(written, `\fB`+roff(name)+`\fR`)
	}
	b.WriteString(strings.Join(written, ", "))
	if f.PlaceHolder != "" {
		b.WriteString(` \fI` + roff(f.PlaceHolder) + `\fR`)
	}
	b.WriteString("\n" + roff(strings.Join(text.Wrap(flagText(f), manWidth), "\n")) + "\n")
}

// roff protects what has a meaning in man(7): the backslash, a dash that must
// stay a minus when it is copied, and a dot or quote that begins a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "")
}
