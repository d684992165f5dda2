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
	{"attempts", "runs, the first included; 0 is unlimited"},
	{"base", "first delay, doubled each time, randomized"},
	{"cap", "longest delay"},
	{"delays", "list of delays; the last one is repeated"},
	{"timeout", "time limit of one attempt"},
	{"deadline", "time limit of the whole run"},
	{"on-exit", "retry only these: 75,100-110,KILL,timeout"},
	{"stop-on-exit", "do not retry these"},
	{"stop-on-stderr", "nor failures with a line that matches"},
	{"until-stdout", "succeed only if a line matches"},
	{"classify", "smart: do not retry a 404 or a wrong password"},
	{"wait-for", "first wait for tcp://host:port, https://..."},
	{"exec", "then replace retry with the command"},
	{"policy", "settings by name: ci, deploy, download, wait"},
	{"shell", "run a shell command line: -c 'cd src && make'"},
	{"verbose", "print when attempts start, and details of waits"},
	{"quiet", "print only the program's own errors"},
}

const briefExits = `
Exit codes: 0 success; the command's own code if the last attempt failed; 124
time limit (or the command's own 124); 125 usage or internal error; 126 not
executable; 127 not found. Ctrl-C: the command gets it, no attempt follows.
`

const briefMore = `
All flags: retry --help. The manual: retry --man | man -l -
The waits: retry --plan FLAGS. Why a failure is retried: --explain.
Runs in progress: --status. Recent failures: --last, --report.
`

// Brief writes the help that fits on one screen.
func (p *Pages) Brief(w io.Writer) error {
	var b strings.Builder
	b.WriteString(helpUsage + "Runs COMMAND until it succeeds, with exponential backoff and jitter.\n\n")
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
