package cli

// This file is what kong does for the program: the model of the grammar, from
// which the help is printed, and the words for a flag that cannot be read.

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// newParser builds kong's model of the grammar into g.
func newParser(g *grammar) (*kong.Kong, error) {
	var titles []kong.Group
	for _, group := range groups {
		titles = append(titles, kong.Group{Key: group.key, Title: group.title})
	}
	return kong.New(g, kong.Name("retry"), kong.NoDefaultHelp(), kong.ExplicitGroups(titles), kong.Exit(func(int) {}))
}

// explainArgv says what is wrong with a word that the reader did not
// understand, with a suggestion where one is near.
func explainArgv(e *argvError) error {
	switch e.kind {
	case valueMissing:
		return fmt.Errorf("%s: needs a value, and the command line ends here%s", e.word, usual(e.word))
	case valueNotBool:
		return fmt.Errorf("%s: %q is not true or false", e.word, e.value)
	}
	near := suggest(e.word)
	switch len(near) {
	case 0:
		return fmt.Errorf("unknown flag %q; write -- before a command that begins with a dash", e.word)
	case 1:
		return fmt.Errorf("unknown flag %q, did you mean %s?", e.word, near[0])
	}
	return fmt.Errorf("unknown flag %q, did you mean one of %s?", e.word, strings.Join(near, ", "))
}

// usual shows how a flag that lacks its value is written, after a message.
func usual(word string) string {
	table := flagTable()
	f := byName(table, strings.TrimPrefix(word, "--"))
	if f == nil {
		f = byShort(table, word[1])
	}
	text := "; write " + word + " " + reflect.TypeFor[grammar]().Field(f.field).Tag.Get("placeholder")
	if f.preset != "" {
		text += ", as in " + word + " " + f.preset
	}
	return text
}

// elsewhere are names that other programs give to what is a flag here: curl,
// wget, timeout, and the common retry tools and libraries.
var elsewhere = []struct{ name, flag string }{
	{"retries", "attempts"}, {"retry", "attempts"}, {"tries", "attempts"}, {"times", "attempts"}, {"count", "attempts"},
	{"max-attempts", "attempts"}, {"max-retries", "attempts"}, {"max-retry", "attempts"}, {"retry-count", "attempts"}, {"num-retries", "attempts"}, {"max-tries", "attempts"}, {"limit", "attempts"},
	{"sleep", "base"}, {"wait", "base"}, {"interval", "base"}, {"retry-delay", "base"}, {"min-wait", "base"},
	{"max-delay", "cap"}, {"max-wait", "cap"}, {"max-backoff", "cap"}, {"max-interval", "cap"}, {"multiplier", "factor"},
	{"retry-max-time", "deadline"}, {"max-time", "deadline"}, {"max-elapsed", "deadline"}, {"total-timeout", "deadline"},
	{"attempt-timeout", "timeout"}, {"retry-on-exit", "on-exit"}, {"retry-if", "on-exit"}, {"exit-code", "on-exit"}, {"fail-fast", "stop-on-exit"},
	{"silent", "quiet"}, {"debug", "verbose"}, {"dry-run", "plan"}, {"output", "log-file"}, {"log", "log-file"},
}

// shortestName is from where on a name is long enough to be near another one.
const shortestName = 3

// suggest returns the flags, quoted, that an unknown word may stand for: the
// same name written otherwise, what other programs call so, or, as kong finds
// it, a name that differs by a letter or two.
func suggest(word string) []string {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	if len(name) < shortestName {
		return nil
	}
	for _, other := range elsewhere {
		if other.name == name {
			name = other.flag
			break
		}
	}
	if byName(flagTable(), name) != nil {
		return []string{`"--` + name + `"`}
	}
	parser, err := newParser(new(grammar))
	if err != nil {
		return nil
	}
	if _, err = parser.Parse([]string{"--" + name}); err == nil {
		return nil
	}
	_, suggestions, _ := strings.Cut(err.Error(), ", did you mean ")
	var near []string
	for i, part := range strings.Split(suggestions, `"`) {
		if i%2 == 1 && strings.HasPrefix(part, "--") { // what stands between quotes
			near = append(near, `"`+part+`"`)
		}
	}
	return near
}

// helpWidth is the width that the help is made for, and helpIndent where the
// words about a flag begin.
const (
	helpWidth  = 80
	helpIndent = 27
)

const helpUsage = `Usage: retry [FLAGS] [--] COMMAND [ARG...]

`

const helpAbout = `Runs COMMAND, and runs it again with growing, jittered waits until it succeeds
or trying again makes no sense. D is a duration: 250ms, 1m30s, or a number of
seconds. EXITS is a list of codes (75), ranges (100-110), signals (KILL), and
the words timeout, signal and any. REGEX is an RE2 regular expression that is
tried on each line. What sets policy can come from the environment as well:
--on-exit is RETRY_ON_EXIT, with newlines between several values.
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

// printHelp writes the help, each flag with its unit and default.
func printHelp(w io.Writer) error {
	parser, err := newParser(new(grammar))
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(helpUsage + helpAbout)
	for _, group := range groups {
		b.WriteString("\n" + group.title + ":\n")
		for _, f := range parser.Model.Flags {
			if f.Group != nil && f.Group.Key == group.key {
				writeFlag(&b, f)
			}
		}
	}
	b.WriteString(helpExits + "\nExamples:\n" + helpExamples)
	_, err = io.WriteString(w, b.String())
	return err
}

func writeFlag(b *strings.Builder, f *kong.Flag) {
	head := "      --" + f.Name
	if f.Short != 0 {
		head = "  -" + string(f.Short) + ", --" + f.Name
	}
	if !f.IsBool() {
		head += " " + f.PlaceHolder
	}
	if len(head)+2 > helpIndent {
		b.WriteString(head + "\n")
		head = ""
	}
	for _, line := range wrap(flagText(f), helpWidth-helpIndent) {
		fmt.Fprintf(b, "%-*s%s\n", helpIndent, head, line)
		head = ""
	}
}

// flagText is what is said about a flag, its default included.
func flagText(f *kong.Flag) string {
	if f.HasDefault {
		return f.Help + " (default " + f.Default + ")"
	}
	return f.Help
}

// wrap breaks text at spaces into lines of at most width.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
