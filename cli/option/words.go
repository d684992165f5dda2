package option

// This file describes words that are no flag, and suggests flags for them.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/retrysh/retry/cli/manual"
)

// unknownFlag is the error for a word that is no flag, with suggestions.
func unknownFlag(table []Flag, word string) error {
	near := Suggest(table, word)
	switch len(near) {
	case 0:
		return fmt.Errorf("unknown flag %q; write -- before a command that begins with a dash", word)
	case 1:
		return fmt.Errorf("unknown flag %q, did you mean %s?", word, near[0])
	}
	return fmt.Errorf("unknown flag %q, did you mean one of %s?", word, strings.Join(near, ", "))
}

// valueMissing is the error for a flag without its value: what is in the value's
// place, and how the flag is written.
func valueMissing(s *Setting, token kong.Token) error {
	name, what := s.Flag.Name(), "the command line ends here"
	if !token.IsEOL() {
		what = fmt.Sprintf("%q begins with a dash", token)
		if token.Value == "--" {
			what = `"--" ends the flags`
		}
	}
	text := fmt.Sprintf("needs a value, and %s; write %s %s", what, s.Word, manual.Placeholder(name))
	if preset := s.Flag.Preset(); preset != "" && preset != "0" { // which leaves a limit away
		text += ", as in " + s.Word + " " + preset
	}
	if !token.IsEOL() {
		text += fmt.Sprintf("; --%s=%s gives it that value", name, token)
	}
	return &UsageError{s.Word, errors.New(text)}
}

// elsewhere are names that other programs give to what is written otherwise here:
// curl, wget, timeout, and the common retry tools and libraries. A line is what to
// write, several ways separated by "or", and the names.
const elsewhere = `
-n: r a
--attempts: retries retry tries times count max-attempts max-retries max-retry retry-count num-retries max-tries limit max
--attempts 0: forever unlimited infinite until-success until=success
--attempts 0 or --until-stdout or --until-failure: until
--until-failure: until=fail until=failure until=error while-success invert
--success-on-exit or --until-failure: u
--base: d i b sleep delay backoff-base wait wait-time interval initial-interval retry-delay min-wait min
--delays: retry-wait retry-wait-seconds
--on-exit or --base: w
--cap: x max-delay max-wait max-backoff max-interval
--factor: multiplier backoff-factor backoff-multiplier backoff-coefficient exponent
--jitter: randomization-factor randomize
--deadline: retry-max-time max-time max-elapsed max-elapsed-time total-timeout
--timeout: attempt-timeout connect-timeout task-time timeout-minutes timeout-seconds
--on-exit: retry-on-exit retry-on-exit-code retry-on on-exit-code on-exit-codes retry-if exit-code exit-codes while
--stop-on-exit: fail-fast
--success-on-exit: condition
--quiet: silent
--verbose: debug
--plan: dry-run
--log-file: output log
--log-format: json log-json format
--max-concurrent: jobs j parallel concurrency semaphore
--key: id
--name: message
--max-concurrent 1,of=runs: lock flock mutex
--on-exit or --after-give-up: on-error on-fail on-failure
--before-retry: on-retry on-retry-command
--retry-with: new-command-on-retry
--after-success: on-success
--after-give-up: notify fail
--status: ps
--policy list: list-policies policies
`

// calledElsewhere is what to write for a name of another program's, nil where it
// is not known. A name may go together with its value.
func calledElsewhere(name, value string) (ways []string) {
	for line := range strings.Lines(elsewhere) {
		write, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch all := strings.Fields(names); {
		case slices.Contains(all, name+"="+value):
			return quoted(write)
		case slices.Contains(all, name):
			ways = quoted(write)
		}
	}
	return ways
}

func quoted(ways string) []string {
	return strings.Split(`"`+strings.ReplaceAll(ways, " or ", `"|"`)+`"`, "|")
}

// shortestName is from where on a name is long enough to be near another one.
const shortestName = 3

// Suggest returns the flags, quoted, that an unknown word may mean: the same
// name written otherwise, what other programs call so, or names that differ
// by a letter or two or go on after the word.
func Suggest(table []Flag, word string) []string {
	name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	if ways := calledElsewhere(name, value); ways != nil {
		return ways
	}
	if len(name) < shortestName {
		return nil
	}
	if ByName(table, name) != nil {
		return []string{`"--` + name + `"`}
	}
	var near []string
	for i := range table {
		if known := table[i].Name(); strings.HasPrefix(known, name) || Distance(known, name) <= 2 {
			near = append(near, `"--`+known+`"`)
		}
	}
	return near
}
