package policy

// This file is --print-policy: all settings in force, in the syntax of a policy
// file, so that what it prints can be read back.

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/text"
)

// shownFlag is a flag with its values and where they come from.
type shownFlag struct {
	flag   *option.Flag
	values []string
	source option.Source
	origin string
	// aside is not a value but a remark on one, for a comment.
	aside bool
}

// Print writes the settings in force, the given ones first. log-format json of a
// policy is about the events of a run, not about this output.
func Print(out io.Writer, o *option.Options) error {
	table := option.Table()
	if s := option.Last(o.Settings, "log-format"); s != nil && s.Source > option.FromPolicy && o.LogFormat == "json" {
		return printPolicyJSON(out, table, o)
	}
	return printPolicyText(out, table, o)
}

// printPolicyText writes one block, under comments that name the origins.
func printPolicyText(out io.Writer, table []option.Flag, o *option.Options) error {
	name := o.Chosen.Name
	if name == "" {
		name = "current"
	}
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "policy %s\n", name)
	origin := ""
	for _, f := range settingsInForce(table, o) {
		if f.origin != origin {
			origin = f.origin
			fmt.Fprintf(w, "# %s\n", strings.ReplaceAll(origin, "\n", " "))
		}
		for _, value := range f.values {
			if err := writable(value); err != nil {
				return option.Usage("--"+f.flag.Name(), err)
			}
			shown := text.MaskedValue(f.flag.Name(), value)
			if shown != value {
				fmt.Fprint(w, "# without what is secret in it, and so not read back:\n")
			}
			if f.aside || shown != value {
				fmt.Fprint(w, "# ")
			}
			fmt.Fprintf(w, "%s %s\n", f.flag.Name(), shown)
		}
	}
	return w.Flush()
}

// writable refuses a value that a line of a policy file cannot hold.
func writable(value string) error {
	switch {
	case strings.Contains(value, "\n"):
		return errors.New("a value with a line break is not allowed in a policy; --log-format json prints it")
	case value == "", value != strings.TrimSpace(value):
		return fmt.Errorf("%q is not allowed in a policy, since blanks at the ends of a value are dropped there; --log-format json prints it", value)
	}
	return nil
}

// printPolicyJSON writes one object: a flag that may be repeated has a list of
// values, a flag without a value is true or false, all others are text.
func printPolicyJSON(out io.Writer, table []option.Flag, o *option.Options) error {
	type entry struct {
		Value  any    `json:"value"`
		Origin string `json:"origin"`
	}
	object := map[string]entry{}
	for _, f := range settingsInForce(table, o) {
		e := entry{Origin: f.origin}
		var shown []string
		for _, value := range f.values {
			shown = append(shown, text.MaskedValue(f.flag.Name(), value))
		}
		switch {
		case f.flag.Repeats():
			e.Value = shown
		case f.flag.IsBool():
			e.Value = shown[0] == "true"
		default:
			e.Value = shown[0]
		}
		object[f.flag.Name()] = e
	}
	return text.WriteJSON(out, object)
}

// settingsInForce returns every flag of policy that has a value, from the
// highest source to the lowest.
func settingsInForce(table []option.Flag, o *option.Options) []shownFlag {
	var all []shownFlag
	for i := range table {
		f := &table[i]
		if !f.HasVariable() || f.Is("policy") || f.Is("config") {
			continue
		}
		if entry := given(f, o.Settings); len(entry.values) > 0 {
			entry.aside = gaveWay(f.Name(), entry.values[0], o.Policy.Schedule)
			all = append(all, entry)
		} else if entry := preset(f, o); len(entry.values) > 0 {
			all = append(all, entry)
		}
	}
	slices.SortStableFunc(all, func(a, b shownFlag) int { return cmp.Compare(b.source, a.source) })
	return all
}

// gaveWay reports whether a bound of the waits is not what was given: one of a
// higher source contradicts it. Beside that one it would be a mistake.
func gaveWay(name, value string, s backoff.Schedule) bool {
	shownFlag, ok := map[string]time.Duration{"base": s.Base, "cap": s.Cap, "min-delay": s.MinDelay}[name]
	d, err := backoff.ParseDuration(value)
	return ok && err == nil && d != shownFlag
}

// given returns what was set, nothing where the flag was left alone.
func given(f *option.Flag, settings []option.Setting) shownFlag {
	entry := shownFlag{flag: f}
	for _, s := range settings {
		if !s.Flag.Is(f.Name()) {
			continue
		}
		if !f.Repeats() {
			entry.values = nil
		}
		if entry.values = append(entry.values, s.Value); len(entry.values) > 1 {
			continue // shown with the first line
		}
		entry.source = s.Source
		switch s.Source {
		case option.FromCommandLine:
			entry.origin = "command line"
		case option.FromEnvironment:
			entry.origin = s.Word
		default:
			entry.origin = strings.TrimSuffix(s.Word, ": "+f.Name())
		}
	}
	return entry
}

// preset returns the default of a flag, as it is beside those that were given:
// a default that would mean something else once it is given is left out.
func preset(f *option.Flag, o *option.Options) shownFlag {
	entry := shownFlag{flag: f, origin: "default"}
	set := func(name string) bool { return option.Last(o.Settings, name) != nil }
	value := f.Preset()
	switch f.Name() {
	case "attempts", "consecutive":
		if set("repeat") {
			return entry
		}
	case "backoff", "base", "factor":
		if set("delays") || f.Is("base") && set("repeat") {
			return entry
		}
		s := o.Policy.Schedule
		entry.aside = f.Is("base") && (len(o.Targets) > 0 || s.Base > s.Cap)
	case "cap":
		value = o.Policy.Schedule.Cap.String()
		entry.aside = len(o.Targets) > 0
	case "jitter":
		if set("delays") {
			value = "none"
		}
	case "classify":
		if set("rules") {
			value = "smart"
		}
	case "log-format":
		value = o.EventFormat
		entry.aside = set("log-file") // it follows from that
	}
	if f.IsBool() {
		value = "false"
	}
	if value != "" {
		entry.values = []string{value}
	}
	return entry
}
