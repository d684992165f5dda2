// Package mode parses the command line of a mode that runs no command:
// --status, --letters, --report and the like.
//
// Each mode has a kong grammar of its own, a struct that embeds Common. Its
// flags and words may be in any order, and "--" ends the flags. A mode is a
// function that takes a Call and returns the exit code.
package mode

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Call is one use of a mode.
type Call struct {
	Name                  string   // the mode's flag without dashes, such as "status"
	Args                  []string // all words but the mode's own flag
	Environ               []string
	Stdin, Stdout, Stderr *os.File
}

// Common are the flags that every mode knows.
type Common struct {
	LogFormat string `enum:"text,json" default:"text" variable:"yes"`
	Color     string `enum:"auto,always,never" default:"auto" variable:"yes"`
	Quiet     bool   `short:"q" variable:"yes"`
	Verbose   bool   `short:"v" variable:"yes"`
	NoEnv     bool
}

func (c *Common) JSON() bool { return c.LogFormat == "json" }

// Parse fills the grammar, a pointer to a struct, from the call's words. A
// field tagged variable:"yes" is also set by its RETRY_ variable; one tagged
// nested:"-" as well is not where RETRY_DEPTH is set.
func Parse(c Call, grammar any) error {
	parser, err := kong.New(grammar, kong.Name("retry"), kong.NoDefaultHelp(), kong.Exit(func(int) {}), kong.Resolvers(variables(c.Environ)))
	if err != nil {
		return err
	}
	words, err := flagsFirst(parser.Model.Flags, c.Args)
	if err == nil {
		err = Fill(parser, words)
	}
	if err != nil {
		return err
	}
	for _, f := range parser.Model.Flags {
		if err := OneOf(f.Target.String(), f.EnumSlice()); f.Enum != "" && err != nil {
			return fmt.Errorf("--%s: %w", f.Name, err)
		}
	}
	return nil
}

// Fill has kong read words into its grammar. It is kong's Parse without hooks and
// validators: it finds those by the names of methods, for which the linker keeps
// every exported method of every type. That is 1.3 MB of the program.
func Fill(parser *kong.Kong, words []string) error {
	c, err := kong.Trace(parser, words)
	if err == nil {
		err = c.Error
	}
	if err == nil {
		err = c.Reset()
	}
	if err == nil {
		err = c.Resolve()
	}
	if err == nil {
		_, err = c.Apply()
	}
	return err
}

// OneOf is an error where a value is none of the words.
func OneOf(value string, words []string) error {
	if slices.Contains(words, value) || len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	return fmt.Errorf("%q is not %s or %s", value, strings.Join(words[:last], ", "), words[last])
}

// Usage reports a usage error of the mode and returns its exit code.
func (c Call) Usage(err error) int {
	code := c.Fail(err)
	fmt.Fprintf(c.Stderr, "Try 'retry --%s --help'.\n", c.Name)
	return code
}

// Fail reports any other error and returns the code of the program's own failures.
func (c Call) Fail(err error) int {
	c.Complain(text.Masked(err.Error()))
	return exitcodes.Failure
}

// Complain prints a line about the mode.
func (c Call) Complain(line string) {
	fmt.Fprintf(c.Stderr, "retry: --%s: %s\n", c.Name, message.Printable(line))
}

// flagsFirst sorts the words: kong reads a list only where its words are adjacent.
func flagsFirst(known []*kong.Flag, args []string) (flags []string, err error) {
	var words []string
	for i := 0; i < len(args); i++ {
		switch word := args[i]; {
		case word == "--":
			words = append(words, args[i+1:]...)
			i = len(args)
		case len(word) < 2 || word[0] != '-':
			words = append(words, word)
		default:
			flags = append(flags, word)
			f := takesNext(known, word)
			if f == nil {
				continue
			}
			if i++; i == len(args) || len(args[i]) > 1 && args[i][0] == '-' {
				if !strings.HasPrefix(word, "--") {
					word = "-" + string(f.Short)
				}
				return nil, fmt.Errorf("%s: %w", word, ValueMissing(f.Name, word, "", args[i:]))
			}
			flags = append(flags, args[i])
		}
	}
	return append(append(flags, "--"), words...), nil
}

// takesNext returns the flag whose value is the word after this one, nil for none.
func takesNext(known []*kong.Flag, word string) *kong.Flag {
	name, long := strings.CutPrefix(word, "--")
	if !long {
		name = word[1:]
	}
	for at, letter := range name {
		i := slices.IndexFunc(known, func(f *kong.Flag) bool { return long && f.Name == name || !long && f.Short == letter })
		switch {
		case i < 0 || !known[i].IsBool() && !long && at < len(name)-1:
			return nil
		case !known[i].IsBool():
			return known[i]
		}
	}
	return nil
}

// ValueMissing is the error for a flag without its value: what is in the value's place,
// and how the flag, here as word, is written. Rest are the words behind it.
func ValueMissing(name, word, example string, rest []string) error {
	what, equals := "the command line ends here", ""
	if len(rest) > 0 {
		what, equals = fmt.Sprintf("%q begins with a dash", rest[0]), fmt.Sprintf("; --%s=%s gives it that value", name, rest[0])
		if rest[0] == "--" {
			what = `"--" ends the flags`
		}
	}
	if example != "" {
		example = ", as in " + word + " " + example
	}
	return fmt.Errorf("needs a value, and %s; write %s %s%s%s", what, word, manual.Placeholder(name), example, equals)
}

// variables resolves the flags that have a RETRY_ variable. Empty variables
// are ignored, and a log format that the modes do not know counts as text.
func variables(environ []string) kong.ResolverFunc {
	nested := slices.ContainsFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, "RETRY_DEPTH=") })
	return func(c *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		if !f.Tag.Has("variable") || f.Tag.Get("nested") == "-" && nested || noEnv(c) {
			return nil, nil
		}
		name := "RETRY_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := strings.TrimRight(Variable(environ, name), "\r\n")
		if strings.TrimSpace(value) == "" || f.Name == "log-format" && value != "json" {
			return nil, nil
		}
		if f.IsSlice() {
			var all []any
			for _, line := range Lines(value) {
				all = append(all, line)
			}
			return all, nil
		}
		if err := OneOf(value, f.EnumSlice()); f.Enum != "" && err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return value, nil
	}
}

// Variable is the value of a variable, "" where it is not set.
func Variable(environ []string, name string) string {
	i := slices.IndexFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	if i < 0 {
		return ""
	}
	return environ[i][len(name)+1:]
}

func noEnv(c *kong.Context) bool {
	return slices.ContainsFunc(c.Path, func(p *kong.Path) bool {
		if p.Flag == nil || p.Flag.Name != "no-env" {
			return false
		}
		on, is := c.FlagValue(p.Flag).(bool)
		return is && on
	})
}

// Lines are the values of a repeatable flag's variable, one a line. Blank lines are
// ignored, as YAML's blocks end in one.
func Lines(value string) (all []string) {
	for line := range strings.Lines(value) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			all = append(all, line)
		}
	}
	return all
}

// Limit is a greatest number, 0 for no limit.
type Limit int

// UnmarshalText reads a limit.
func (l *Limit) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d; 0 is no limit", text, math.MaxInt32)
	}
	*l = Limit(n)
	return nil
}
