package manual

// This file prints what -h prints: one screen.

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Common are the flags that most people need, in the order in which they are
// shown, with a text that fits on a line.
var Common = []struct{ Name, Text string }{
	{"attempts", "runs of the command in all; 0 is unlimited"},
	{"base", "the first delay, doubled each time, at random"},
	{"cap", "the longest delay"},
	{"delays", "the delays one by one, the last repeated"},
	{"timeout", "limits one attempt"},
	{"deadline", "limits everything, waits included"},
	{"on-exit", "retry these only, as in 75,100-110,KILL"},
	{"stop-on-exit", "these results are not retried"},
	{"stop-on-stderr", "nor failures that say this"},
	{"until-stdout", "success needs a line that matches"},
	{"classify", "smart: stop at what is known to be permanent"},
	{"wait-for", "first wait for tcp://host:port, https://..."},
	{"exec", "then become the command"},
	{"policy", "settings by name: ci, deploy, download, wait"},
	{"shell", "run a shell command line: -c 'cd src && make'"},
	{"verbose", "say when attempts start, and more of the waits"},
	{"quiet", "say nothing but the program's own errors"},
}

const briefExits = `
Exit codes: 0 success; the command's own when it is given up on; 124 timeout or
deadline; 125 usage or internal error; 126 not executable; 127 not found.
`

const briefMore = `
All flags: retry --help. The manual: retry --man | man -l -
What a policy means: retry --plan FLAGS. Why a failure is retried: --explain.
Runs seen from outside: --status. What went wrong lately: --last, --report.
`

// Brief writes the help that fits on one screen.
func (p *Pages) Brief(w io.Writer) error {
	var b strings.Builder
	b.WriteString(helpUsage + "Runs COMMAND again, with growing, jittered waits, until it succeeds.\n\n")
	flags := p.flags()
	for _, c := range Common {
		i := slices.IndexFunc(flags, func(f Flag) bool { return f.Name == c.Name })
		text := c.Text
		if f := flags[i]; f.Default != "" && f.Default != "0" && c.Name != "classify" {
			text += " (" + f.Default + ")"
		}
		fmt.Fprintf(&b, "%-*s %s\n", helpIndent, flagHead(flags[i]), text)
	}
	b.WriteString("\nExamples:\n" + helpExamples + briefExits + briefMore)
	_, err := io.WriteString(w, b.String())
	return err
}
