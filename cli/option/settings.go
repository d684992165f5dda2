package option

// This file has the settings and their sources: the command line, variables and
// policies. Those of a lower source count if the higher ones leave a flag open.

import (
	"cmp"
	"slices"
	"strings"
)

// Source is where a setting comes from; a higher one has precedence over a lower one
// (docs/environment.md).
type Source int

const (
	FromDefault Source = iota // no setting: the flag was not given
	FromPolicy
	FromEnvironment
	FromCommandLine
)

// Setting is one flag as it was given.
type Setting struct {
	Flag   *Flag
	Value  string
	Word   string // how the user named the flag
	Source Source
	// Generation is how far a policy's setting was inherited: 0 for the policy that was
	// asked for, 1 for the one that it inherits, 2 for the one that this inherits.
	Generation int
}

// Compare compares the precedence of two settings: that of their sources, and within a
// policy the nearer generation.
func (s *Setting) Compare(other *Setting) int {
	return cmp.Or(cmp.Compare(s.Source, other.Source), cmp.Compare(other.Generation, s.Generation))
}

// Off reports whether a switch was given "=false" or the like.
func (s *Setting) Off() bool { return s.Flag.IsBool() && Truth(s.Value) == "false" }

// Last returns the setting in force of a flag, nil for none.
func Last(settings []Setting, name string) *Setting {
	for i := len(settings) - 1; i >= 0; i-- {
		if settings[i].Flag.Is(name) {
			return &settings[i]
		}
	}
	return nil
}

// inEffect returns the settings of lower sources that are used beside the command line:
// no variables with --no-env, and none that nothing in force looks at.
func (o *Options) inEffect(below []Setting) []Setting {
	if slices.ContainsFunc(o.Settings,
		func(s Setting) bool { return s.Flag.Tag("of") == "program" && o.Asks(s.Flag.name) }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(below), func(s Setting) bool {
		return s.Source == FromEnvironment && (o.Asks("no-env") || o.withoutNeed(s.Flag, below))
	})
}

// withoutNeed reports whether the flag has no effect, since no flag is set that it needs.
func (o *Options) withoutNeed(f *Flag, below []Setting) bool {
	others := f.Tag("needs")
	return others != "" && !slices.ContainsFunc(strings.Split(others, ","), func(other string) bool {
		return o.Asks(other) || Last(below, other) != nil
	})
}

// Merge puts the settings of a higher source over those of a lower one.
func Merge(lower, higher []Setting) []Setting {
	return append(notSetBy(lower, higher), higher...)
}

// notSetBy returns the settings of a lower source that stay in force: a flag of the
// higher source replaces that of the lower one, and those that contradict it.
func notSetBy(lower, higher []Setting) []Setting {
	return slices.DeleteFunc(slices.Clone(lower), func(s Setting) bool {
		return slices.ContainsFunc(higher, func(h Setting) bool {
			excluded := s.Flag.Excludes(h.Flag.name) || h.Flag.Excludes(s.Flag.name)
			return s.Flag.Is(h.Flag.name) || excluded && !Last(higher, h.Flag.name).Off()
		})
	})
}

// Environment reads the settings that come from RETRY_ variables. Empty and
// unknown variables are ignored. The values of a repeatable flag are separated
// by newlines, since a value may hold anything else; blank lines are ignored,
// as YAML's blocks end in one. Inside another retry, the variables of the outer run
// (inner:"no") are ignored.
func Environment(all []Flag, environ []string) (settings []Setting) {
	nested := false
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		value = strings.TrimRight(value, "\r\n")
		if !strings.HasPrefix(name, "RETRY_") || strings.TrimSpace(value) == "" {
			continue
		}
		nested = nested || name == "RETRY_DEPTH"
		f := flagOf(all, name)
		if f == nil || !f.HasVariable() {
			continue
		}
		parts := 1
		if f.Repeats() {
			parts = -1
		}
		for _, line := range strings.SplitN(value, "\n", parts) {
			if line = strings.TrimRight(line, "\r"); strings.TrimSpace(line) != "" {
				settings = append(settings, Setting{
					Flag: f, Value: f.written(line), Word: name, Source: FromEnvironment,
				})
			}
		}
	}
	if nested {
		settings = slices.DeleteFunc(settings, func(s Setting) bool { return s.Flag.Tag("inner") == "no" })
	}
	return settings
}

// Variable is the value of a variable, "" if it is not set.
func Variable(environ []string, name string) string {
	i := slices.IndexFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	if i < 0 {
		return ""
	}
	return environ[i][len(name)+1:]
}

// flagOf returns the flag that a variable is named after, nil for none.
func flagOf(all []Flag, variable string) *Flag {
	if variable != strings.ToUpper(variable) {
		return nil
	}
	return byName(all, strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, "RETRY_"), "_", "-")))
}

// Sources returns a line for each place that a setting comes from.
func Sources(settings []Setting) (lines []string) {
	for _, place := range []struct {
		source Source
		name   string
	}{{FromPolicy, "policy"}, {FromEnvironment, "environment"}, {FromCommandLine, "command line"}} {
		var words []string
		for _, s := range settings {
			if s.Source == place.source && !slices.Contains(words, s.Word) {
				words = append(words, s.Word) // the values may be secrets
			}
		}
		if len(words) > 0 {
			lines = append(lines, "from the "+place.name+": "+strings.Join(words, ", "))
		}
	}
	return lines
}
