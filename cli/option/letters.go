package option

// This file resolves dead letters (docs/letters.md), and what a letter keeps of the
// flags of its run.

import (
	"fmt"
	"path/filepath"
	"slices"
)

// letters resolves the section on dead letters. A parked run is a letter.
func (r *resolver) letters() {
	if r.Park > 0 && !r.o.Given("dead-letter") {
		r.DeadLetter = "on"
	}
	r.refuse("park", r.Park > 0 && r.DeadLetter == "off",
		"cannot be used with --dead-letter off: a parked run is a letter; write --dead-letter on, or a directory")
}

// Kept returns the settings of a run that its letter keeps: not those about output,
// those of one call, and the places of letters and policies.
func Kept(settings []Setting) map[string][]string {
	kept := map[string][]string{}
	for _, s := range settings {
		f := s.Flag
		if !f.HasVariable() || f.Tag("of") == "output" || f.Tag("letter") == "no" {
			continue
		}
		if !f.Repeats() {
			kept[f.name] = nil
		}
		kept[f.name] = append(kept[f.name], s.Value)
	}
	return kept
}

// OfRedrive returns the flags of a run that --redrive has as well.
func OfRedrive() []Flag {
	return slices.DeleteFunc(slices.Clone(Table()),
		func(f Flag) bool { return f.Tag("redrive") == "no" || !f.HasVariable() })
}

// Redriven returns the options for the run of a letter. In rising precedence they come
// from the letter, the variables about output, and what was given to --redrive. File
// names of the last two are relative to the current working directory.
func Redriven(given []Setting, environ []string, kept map[string][]string, command []string) (*Options, error) {
	var settings []Setting
	for name, values := range kept {
		f := ByName(name)
		if f == nil || !f.HasVariable() {
			return nil, fmt.Errorf("policy: this program has no flag --%s for a policy", name)
		}
		for _, value := range values {
			settings = append(settings, Setting{Flag: f, Value: value, Word: "--" + name, Source: FromPolicy})
		}
	}
	below := slices.DeleteFunc(Environment(Table(), environ),
		func(s Setting) bool { return s.Flag.Tag("of") != "output" })
	settings = Merge(Merge(settings, below), given)
	if err := absolute(settings); err != nil {
		return nil, err
	}
	o := &Options{Settings: settings, Command: command, Chosen: &Chosen{}}
	err := o.Fill()
	if err == nil {
		err = o.Resolve()
	}
	return o, err
}

// absolute makes the file names absolute that do not come from a letter.
func absolute(settings []Setting) (err error) {
	for i := range settings {
		s := &settings[i]
		isWord := s.Flag.Is("history") && (s.Value == "on" || s.Value == "off")
		if s.Source >= FromEnvironment && s.Flag.Tag("file") == "yes" && !isWord && err == nil {
			s.Value, err = filepath.Abs(s.Value)
		}
	}
	return err
}
