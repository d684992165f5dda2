package policy

// This file prints policies: the list of those that can be asked for, and for
// --print-policy all settings in force, in the syntax of a policy file, so that what it
// prints can be read back.

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/text"
)

// List prints each policy and where it is defined.
func List(out io.Writer, o *option.Options) error {
	all := o.Chosen.All
	if o.LogFormat == "json" {
		return json.NewEncoder(out).Encode(map[string]any{"policies": all})
	}
	width := 0
	for _, p := range all {
		width = max(width, len(p.Name))
	}
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%-*s  %s", width, p.Name, p.Source)
		if p.Inherit != "" {
			b.WriteString("  inherits " + p.Inherit)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// shownFlag is a flag with its values and where they come from.
type shownFlag struct {
	flag   *option.Flag
	values []string
	first  option.Setting // that gave the values, the zero one if none did
	origin string
	aside  bool // a remark for a comment, not a value
}

// Print writes the settings in force, the given ones first. log-format json of a
// policy is about the events of a run, not about this output.
func Print(out io.Writer, o *option.Options) error {
	if s := option.Last(o.Settings, "log-format"); s != nil && s.Source > option.FromPolicy && o.LogFormat == "json" {
		return printJSON(out, o)
	}
	return printText(out, o)
}

// printText writes one block, under comments that name the origins.
func printText(out io.Writer, o *option.Options) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "policy %s\n", cmp.Or(o.Chosen.Name, "current"))
	origin := ""
	for _, f := range settingsInForce(o) {
		if f.origin != origin {
			origin = f.origin
			fmt.Fprintf(w, "# %s\n", strings.ReplaceAll(origin, "\n", " "))
		}
		for _, value := range f.values {
			if err := writable(value); err != nil {
				return option.Usage("--"+f.flag.Name(), err)
			}
			shown := option.Masked(f.flag.Name(), value)
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
		return fmt.Errorf("%q is not allowed in a policy, since blanks at the ends of a value are dropped there; "+
			"--log-format json prints it", value)
	}
	return nil
}

// printJSON writes one object: a flag that may be repeated has a list of values, a flag
// without a value is true or false, all others are text.
func printJSON(out io.Writer, o *option.Options) error {
	type entry struct {
		Value  any    `json:"value"`
		Origin string `json:"origin"`
	}
	object := map[string]entry{}
	for _, f := range settingsInForce(o) {
		var shown []string
		for _, value := range f.values {
			shown = append(shown, option.Masked(f.flag.Name(), value))
		}
		e := entry{shown[0], f.origin}
		if f.flag.Repeats() {
			e.Value = shown
		} else if f.flag.IsBool() {
			e.Value = shown[0] == "true"
		}
		object[f.flag.Name()] = e
	}
	return text.WriteJSON(out, object)
}

// settingsInForce returns every flag of policy that has a value, from the highest
// source to the lowest.
func settingsInForce(o *option.Options) (all []shownFlag) {
	for _, f := range option.Table() {
		if !f.HasVariable() || f.Tag("policy") == "no" {
			continue
		}
		entry := shownFlag{flag: &f, origin: "default"}
		for _, s := range o.Settings {
			if !s.Flag.Is(f.Name()) {
				continue
			}
			if entry.values == nil || !f.Repeats() { // the first of several says where they come from
				entry.values = nil
				entry.first = s
				entry.origin = strings.TrimSuffix(s.Word, ": "+f.Name())
			}
			entry.values = append(entry.values, s.Value)
		}
		if entry.first.Source == option.FromCommandLine {
			entry.origin = "command line"
		}
		if entry.values != nil {
			// A bound of the waits is not used if one of a higher source contradicts it.
			used := o.Policy.Schedule
			entry.aside = f.Is("base") && o.Base != used.Base || f.Is("cap") && o.Cap != used.Cap ||
				f.Is("min-delay") && o.MinDelay != used.MinDelay
		} else {
			value, aside := preset(&f, o)
			if value == "" {
				continue
			}
			entry.values = []string{value}
			entry.aside = aside
		}
		all = append(all, entry)
	}
	slices.SortStableFunc(all, func(a, b shownFlag) int { return b.first.Compare(&a.first) })
	return all
}

// preset returns the default of a flag beside the flags that were given, "" if it
// would mean something else once it is given. aside says that it is only a remark.
func preset(f *option.Flag, o *option.Options) (value string, aside bool) {
	set := func(name string) bool { return option.Last(o.Settings, name) != nil }
	is := func(names ...string) bool { return slices.Contains(names, f.Name()) }
	excluded := slices.ContainsFunc(o.Settings, func(s option.Setting) bool { return s.Flag.Excludes(f.Name()) })
	s := o.Policy.Schedule
	switch {
	case f.IsBool():
		return "false", false
	case excluded, is("base") && set("repeat"):
		return "", false
	case is("base"):
		return f.Preset(), len(o.Targets) > 0 || s.Base > s.Cap
	case is("cap"):
		return s.Cap.String(), len(o.Targets) > 0
	case is("jitter") && set("delays"):
		return "none", false
	case is("classify") && set("rules"):
		return "smart", false
	case is("dead-letter"):
		return string(o.DeadLetter), false // on with --park
	case is("log-format"):
		return o.EventFormat, set("log-file") // it follows from that
	}
	return f.Preset(), false
}
