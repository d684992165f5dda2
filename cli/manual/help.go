// Package manual prints what a reader may have in front of them without the
// network: the help, the manual page and the completions of the shells. All of
// it is made from the one grammar of the flags.
//
// It will never read a command line or decide what one means.
package manual

// This file prints the help.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/retrysh/retry/engine/text"
)

// Width is the width in columns that the help is made for, and helpIndent where the
// words about a flag begin.
const (
	Width      = 80
	helpIndent = 27
)

const helpUsage = `Usage: retry [FLAGS] [--] COMMAND [ARG...]

`

const helpAbout = `Runs COMMAND, and runs it again with growing, jittered waits until it succeeds
or trying again makes no sense. D is a duration: 250ms, 1m30s, or a number of
seconds. EXITS is a list of codes (75), ranges (100-110), signals (KILL), and
the words timeout, signal and any. REGEX is an RE2 regular expression that is
tried on each line. What sets policy can come from the environment as well:
--on-exit is RETRY_ON_EXIT, with newlines between several values. A name in
brackets behind a failure, as in [net-reset], is the rule that decided, and
--explain says what it looks for.
`

// commonOfModes are flags of every mode with a grammar of its own.
const commonOfModes = `Every mode also has --log-format text|json, --color WHEN, -q, -v and --no-env.
`

const helpExits = `
Exit codes: 0 success; the command's own code when it is given up on (128+n and
death by the signal where one ended it); 1 its output said failure; 124 timeout
or deadline; 125 usage or internal error; 126 not executable; 127 not found.
`

const helpExamples = `  retry -- curl -fsS https://example.com/health
  retry -n 10 --timeout 30s --on-exit 75,111 --stop-on-stderr 'denied' -- deploy
  retry --wait-for tcp://db:5432 --wait-timeout 90s --exec -- server --port 80
`

// Help writes the help, each flag with its unit and default.
func (p *Pages) Help(w io.Writer) error {
	var b strings.Builder
	b.WriteString(helpUsage + helpAbout)
	for _, group := range p.Groups {
		b.WriteString("\n" + group.Title + ":\n")
		for _, f := range group.Flags {
			writeFlag(&b, f)
		}
	}
	b.WriteString(helpExits + "\nExamples:\n" + helpExamples)
	_, err := io.WriteString(w, b.String())
	return err
}

// ModeHelp writes the help of one mode.
func (p *Pages) ModeHelp(w io.Writer, name string) error {
	i := slices.IndexFunc(p.Groups, func(g Group) bool { return g.Mode == name })
	if i < 0 {
		return fmt.Errorf("there is no help about --%s", name)
	}
	group := &p.Groups[i]
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: retry --%s%s [FLAGS]\n\n%s\n", group.Mode, group.operands(), strings.Join(text.Wrap(group.Flags[0].Help, Width), "\n"))
	if flags := group.Flags[1:]; len(flags) > 0 {
		b.WriteString("\n")
		for _, f := range flags {
			writeFlag(&b, f)
		}
	}
	if group.OwnGrammar {
		b.WriteString("\n" + commonOfModes)
	}
	if !group.OwnGrammar || name == "redrive" {
		b.WriteString("\nThe flags of a run: retry --help.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// flagHead is how a flag is written.
func flagHead(f Flag) string {
	head := "      --" + f.Name
	if f.Short != 0 {
		head = "  -" + string(f.Short) + ", --" + f.Name
	}
	if f.PlaceHolder != "" {
		head += " " + f.PlaceHolder
	}
	return head
}

func writeFlag(b *strings.Builder, f Flag) {
	head := flagHead(f)
	if len(head)+2 > helpIndent {
		b.WriteString(head + "\n")
		head = ""
	}
	for _, line := range text.Wrap(flagText(f), Width-helpIndent) {
		fmt.Fprintf(b, "%-*s%s\n", helpIndent, head, line)
		head = ""
	}
}

// flagText is what is said about a flag, its default included.
func flagText(f Flag) string {
	if f.Default != "" {
		return f.Help + " (default " + f.Default + ")"
	}
	return f.Help
}
