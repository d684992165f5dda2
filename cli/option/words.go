package option

// This file says what is wrong with a word that is not a flag here, with a
// suggestion where one is near.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/retrysh/retry/cli/manual"
)

// unknownFlag says what is wrong with a word that is no flag, with a suggestion
// where one is near.
func unknownFlag(table []Flag, word string) error {
	if name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "="); slices.Contains(withoutEnd, name) {
		return fmt.Errorf("unknown flag %q, did you mean \"--attempts 0\"?", word)
	}
	near := Suggest(table, word)
	switch len(near) {
	case 0:
		return fmt.Errorf("unknown flag %q; write -- before a command that begins with a dash", word)
	case 1:
		return fmt.Errorf("unknown flag %q, did you mean %s?", word, near[0])
	}
	return fmt.Errorf("unknown flag %q, did you mean one of %s?", word, strings.Join(near, ", "))
}

// valueMissing says what stands in a value's place, and how the flag is written.
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

// withoutEnd are names that other programs give to an unlimited number of
// attempts.
var withoutEnd = []string{"forever", "unlimited", "infinite", "until-success"}

type otherName struct{ name, flag string }

// elsewhere are names that other programs give to what is a flag here: curl,
// wget, timeout, and the common retry tools and libraries.
var elsewhere = []otherName{
	{"retries", "attempts"}, {"retry", "attempts"}, {"tries", "attempts"}, {"times", "attempts"}, {"count", "attempts"},
	{"max-attempts", "attempts"}, {"max-retries", "attempts"}, {"max-retry", "attempts"}, {"retry-count", "attempts"}, {"num-retries", "attempts"}, {"max-tries", "attempts"}, {"limit", "attempts"},
	{"sleep", "base"}, {"delay", "base"}, {"backoff-base", "base"}, {"wait", "base"}, {"interval", "base"}, {"retry-delay", "base"}, {"min-wait", "base"},
	{"max-delay", "cap"}, {"max-wait", "cap"}, {"max-backoff", "cap"}, {"max-interval", "cap"}, {"multiplier", "factor"},
	{"retry-max-time", "deadline"}, {"max-time", "deadline"}, {"max-elapsed", "deadline"}, {"total-timeout", "deadline"},
	{"attempt-timeout", "timeout"}, {"connect-timeout", "timeout"}, {"retry-on-exit", "on-exit"}, {"retry-on", "on-exit"}, {"on-exit-code", "on-exit"}, {"on-exit-codes", "on-exit"}, {"retry-if", "on-exit"}, {"exit-code", "on-exit"}, {"fail-fast", "stop-on-exit"},
	{"silent", "quiet"}, {"debug", "verbose"}, {"dry-run", "plan"}, {"output", "log-file"}, {"log", "log-file"},
	{"json", "log-format"}, {"log-json", "log-format"}, {"format", "log-format"}, {"max", "attempts"},
}

// shortestName is from where on a name is long enough to be near another one.
const shortestName = 3

// Suggest returns the flags, quoted, that an unknown word may stand for: the
// same name written otherwise, what other programs call so, or names that differ
// by a letter or two or go on after the word.
func Suggest(table []Flag, word string) []string {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	if len(name) < shortestName {
		return nil
	}
	for _, other := range elsewhere {
		if other.name == name {
			return []string{`"--` + other.flag + `"`}
		}
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
