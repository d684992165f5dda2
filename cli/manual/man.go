package manual

// This file prints the manual page: the text and the flags of the help, set in man(7).

import (
	"cmp"
	"strings"

	"github.com/retrysh/retry/engine/text"
)

// lastChange is the day of the page if the build does not know that of its commit.
const lastChange = "2026-11-22"

// manWidth bounds the lines of the source, as mandoc's lint asks for.
const manWidth = 72

// Man is retry.1, the page of that day, or of the last change if day is "". A dash in it
// stands for a minus. Two builds of one source print one page.
func (p Pages) Man(day string) string {
	var flags strings.Builder
	for _, group := range p {
		flags.WriteString(".SS " + roff(group.Title) + "\n")
		if group.Text != "" {
			flags.WriteString(roff(strings.Join(text.Wrap(group.Text, manWidth), "\n")) + "\n")
		}
		for _, f := range group.Flags {
			manFlag(&flags, f)
		}
	}
	marks := strings.NewReplacer("@DATE@", cmp.Or(day, lastChange), "@ABOUT@\n",
		strings.ReplaceAll(roff(strings.TrimSpace(page("about.txt"))), "\n", "\n.br\n")+"\n", "@FLAGS@\n",
		flags.String(), "@EXAMPLES@\n", roff(page("examples.txt")))
	return marks.Replace(strings.ReplaceAll(page("retry.1"), "-", `\-`))
}

func manFlag(b *strings.Builder, f Flag) {
	b.WriteString(".TP\n\\fB" + strings.ReplaceAll(roff(strings.Join(f.written(), " ")), " ", "\\fR, \\fB") + "\\fR")
	if f.PlaceHolder != "" {
		b.WriteString(` \fI` + roff(f.PlaceHolder) + `\fR`)
	}
	b.WriteString("\n" + roff(strings.Join(text.Wrap(f.text(), manWidth), "\n")) + "\n")
}

// roff protects what has a meaning in man(7): the backslash, a dash that must
// stay a minus when it is copied, and a dot or quote that begins a line.
func roff(text string) string {
	text = "\n" + strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	return strings.NewReplacer("\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)[1:]
}
