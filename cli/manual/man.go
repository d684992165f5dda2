package manual

// This file prints the manual page: the help's words and flags, set in
// man(7).

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

const manHead = `.TH RETRY 1 "%s" "retry" "User Commands"
.SH NAME
retry \- run a command again until it succeeds
.SH SYNOPSIS
.B retry
.RI [ FLAGS "] [" \-\- "] " COMMAND " [" ARG ...]
.SH DESCRIPTION
`

const manTail = `.SH EXIT STATUS
.TP
.B 0
An attempt succeeded.
.TP
.I the command's own
It was given up on. Where a signal ended the command, retry dies by the same
signal, so that a shell sees 128+n.
.TP
.B 1
It was given up on with exit 0, but its output or
.B \-\-success\-on\-exit
said failure.
.TP
.B 75
A guard let no attempt through.
.TP
.B 124
The last attempt was ended by
.B \-\-timeout
or the deadline, or a
.B \-\-wait\-for
target never became ready.
.TP
.B 125
A usage error, or retry itself failed.
.TP
.B 126
The command is not executable.
.TP
.B 127
The command was not found.
.SH SEE ALSO
.BR timeout (1),
.BR nohup (1),
.BR env (1)
`

// manWidth bounds the lines of the source, as mandoc's lint asks for.
const manWidth = 72

// Man writes the page.
func (p *Pages) Man(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, manHead, p.Date)
	b.WriteString(roff(helpAbout))
	b.WriteString(".SH OPTIONS\n")
	for _, group := range p.Groups {
		b.WriteString(".SS " + roff(group.Title) + "\n")
		for _, f := range p.of(group) {
			manFlag(&b, f)
		}
	}
	b.WriteString(manTail)
	b.WriteString(".SH EXAMPLES\n.EX\n" + roff(helpExamples) + ".EE\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func manFlag(b *strings.Builder, f *kong.Flag) {
	b.WriteString(".TP\n")
	var written []string
	for _, name := range names(f) {
		written = append(written, `\fB`+roff(name)+`\fR`)
	}
	b.WriteString(strings.Join(written, ", "))
	if !f.IsBool() {
		b.WriteString(` \fI` + roff(f.PlaceHolder) + `\fR`)
	}
	b.WriteString("\n" + roff(strings.Join(wrap(flagText(f), manWidth), "\n")) + "\n")
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
