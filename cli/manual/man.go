package manual

// This file prints the manual page: the text and the flags of the help, set in man(7).

import (
	"cmp"
	"io"
	"strings"

	"github.com/retrysh/retry/engine/text"
)

// lastChange is the day of the page where the build does not know that of its commit.
const lastChange = "2026-11-22"

// manWidth bounds the lines of the source, as mandoc's lint asks for.
const manWidth = 72

// Man writes the page: retry.1, in which a dash stands for a minus.
func (p *Pages) Man(w io.Writer) error {
	var flags strings.Builder
	for _, group := range p.Groups {
		flags.WriteString(".SS " + roff(group.Title) + "\n")
		for _, f := range group.Flags {
			manFlag(&flags, f)
		}
	}
	marks := strings.NewReplacer("@DATE@", cmp.Or(p.Date, lastChange), "@ABOUT@\n", roff(page("about.txt")), "@FLAGS@\n", flags.String(), "@EXAMPLES@\n", roff(page("examples.txt")))
	_, err := io.WriteString(w, marks.Replace(strings.ReplaceAll(page("retry.1"), "-", `\-`)))
	return err
}

func manFlag(b *strings.Builder, f Flag) {
	b.WriteString(".TP\n\\fB" + strings.Join(strings.Split(roff(strings.Join(f.written(), " ")), " "), "\\fR, \\fB") + "\\fR")
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
