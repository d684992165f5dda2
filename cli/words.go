package cli

// This file says what is wrong with a word that is not a flag here, with a
// suggestion where one is near.

import (
	"fmt"
	"slices"
	"strings"
)

// explainArgv says what is wrong with a word that the reader did not
// understand, with a suggestion where one is near.
func explainArgv(e *argvError) error {
	switch {
	case e.kind == valueMissing && e.value == "--":
		return fmt.Errorf("%s: needs a value, and \"--\" ends the flags%s; %s=-- gives it that value", e.word, usual(e.word), e.word)
	case e.kind == valueMissing:
		return fmt.Errorf("%s: needs a value, and the command line ends here%s", e.word, usual(e.word))
	case e.kind == valueNotBool:
		return fmt.Errorf("%s: %q is not true or false", e.word, e.value)
	}
	if name, _, _ := strings.Cut(strings.TrimLeft(e.word, "-"), "="); slices.Contains(withoutEnd, name) {
		return fmt.Errorf("unknown flag %q, did you mean \"--attempts 0\"?", e.word)
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
	text := "; write " + word + " " + f.tag().Get("placeholder")
	if f.preset != "" && f.preset != "0" { // which leaves a limit away
		text += ", as in " + word + " " + f.preset
	}
	return text
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

// suggest returns the flags, quoted, that an unknown word may stand for: the
// same name written otherwise, what other programs call so, or names that differ
// by a letter or two or go on after the word.
func suggest(word string) []string {
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
	if byName(flagTable(), name) != nil {
		return []string{`"--` + name + `"`}
	}
	var near []string
	for _, f := range flagTable() {
		if strings.HasPrefix(f.name, name) || distance(f.name, name) <= 2 {
			near = append(near, `"--`+f.name+`"`)
		}
	}
	return near
}
