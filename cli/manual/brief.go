package manual

// This file prints what -h prints: one screen.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Common are the flags that most people need, in the order in which they are
// shown, with what a line has room for.
var Common = []struct{ Name, Text string }{
	{"attempts", "runs of the command in all; 0 is unlimited"},
	{"base", "the first delay; the next ones double, with full jitter"},
	{"cap", "the longest delay"},
	{"timeout", "limits one attempt"},
	{"deadline", "limits everything, waits included"},
	{"on-exit", "retry these results only, as in 75,100-110,KILL,timeout"},
	{"stop-on-exit", "these results are not retried"},
	{"until-stdout", "success needs a line that matches"},
	{"classify", "smart: stop at failures that are known to be permanent"},
	{"wait-for", "wait until tcp://host:port, https://... is ready"},
	{"shell", "run a shell command line, as in -c 'make | tee log'"},
	{"verbose", "say when each attempt starts, and more about the waits"},
	{"quiet", "say nothing but the program's own errors"},
}

const briefExits = `
Exit codes: 0 success; the command's own when it is given up on; 124 timeout or
deadline; 125 usage or internal error; 126 not executable; 127 not found.
`

const briefMore = `
All flags: retry --help. The manual: retry --man | man -l -
What a policy means: retry --plan FLAGS. Why a failure is retried: --explain.
`

// Brief writes the help that fits on one screen.
func (p *Pages) Brief(w io.Writer) error {
	var b strings.Builder
	b.WriteString(helpUsage + "Runs COMMAND again, with growing, jittered waits, until it succeeds.\n\n")
	for _, c := range Common {
		i := slices.IndexFunc(p.Flags, func(f *kong.Flag) bool { return f.Name == c.Name })
		text := c.Text
		if f := p.Flags[i]; f.HasDefault && f.Default != "0" && !strings.Contains(text, "smart") {
			text += " (" + f.Default + ")"
		}
		fmt.Fprintf(&b, "%-*s%s\n", helpIndent, flagHead(p.Flags[i]), text)
	}
	b.WriteString("\nExamples:\n" + helpExamples + briefExits + briefMore)
	_, err := io.WriteString(w, b.String())
	return err
}
