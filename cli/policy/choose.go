// Package policy finds the policy in force, a source of settings between the
// environment and the defaults, and prints all settings in force as a policy.
package policy

// This file finds the policy in force.
//
// Files are named by --config or RETRY_CONFIG, or else are the user's and the
// host's own, at most one of each; the first definition of a name counts, and
// the built-in ones come last. The working directory is never read: its files
// may be another user's (compare CVE-2022-24765, of git).

import (
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/xdg"
)

// builtInPolicies is the text of the policies that every program has.
//
//go:embed built-in.policies
var builtInPolicies string

// builtInFile is how that text is named in places.
const builtInFile = "built-in/policies"

// Choose reads the policy files, and returns the policy that was asked for.
func Choose(environ []string, given []option.Setting, command []string) (*option.Chosen, error) {
	s := policySet{}
	if err := s.loadAll(environ, given); err != nil {
		return nil, err
	}
	chosen := &option.Chosen{Rules: s.rules, Warning: s.notRead()}
	asked := option.Last(given, "policy")
	if asked == nil && len(s.policies) == 0 {
		return chosen, nil
	}
	own := s.policies
	s.addBuiltIn()
	if err := s.check(own); err != nil {
		return nil, err
	}
	if asked == nil {
		return chosen, nil
	}
	def := s.byName[asked.Value]
	if def == nil {
		if asked.Value == "list" && asked.Source == option.FromCommandLine && len(command) == 0 {
			chosen.All = s.all()
			return chosen, nil
		}
		return nil, option.Usage(asked.Word, s.unknown(asked.Value))
	}
	chosen.Name, chosen.Source = def.Name, def.Source
	var err error
	chosen.Settings, err = s.flatten(def)
	return chosen, err
}

// loadAll reads the files that were named, or else the user's and the host's own.
func (s *policySet) loadAll(environ []string, given []option.Setting) error {
	if option.Last(given, "config") != nil {
		return s.loadNamed(given)
	}
	if slices.Contains(environ, "RETRY_CONFIG=") && option.Last(given, "no-env") == nil {
		return nil
	}
	s.unasked = true
	for _, folder := range folders(environ) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if err := s.load(filepath.Join(folder, "retry", "policies"), unlessAbsent); err != nil {
			return err
		}
	}
	return nil
}

// folders are those of the user's and of the host's settings (XDG Base Directory
// Specification).
func folders(environ []string) []string {
	variables := xdg.Lookup(func(name string) (string, bool) { return option.Variable(environ, name), true })
	return []string{variables.Config(), variables.HostConfig()}
}

// loadNamed reads the files that were named, which must exist.
func (s *policySet) loadNamed(given []option.Setting) error {
	for _, config := range given {
		if !config.Flag.Is("config") {
			continue
		}
		files := []string{config.Value}
		if config.Source == option.FromEnvironment {
			files = slices.DeleteFunc(filepath.SplitList(config.Value), func(name string) bool { return name == "" })
		} else if config.Value == "" {
			return option.Usage(config.Word, errors.New(`"" is not a file name`))
		}
		blame := func(err error) error { return option.Usage(config.Word, err) }
		for _, name := range files {
			if err := s.load(name, blame); err != nil {
				return err
			}
		}
	}
	return nil
}

// addBuiltIn adds the built-in policies, behind all others.
func (s *policySet) addBuiltIn() {
	p := policyParser{file: builtInFile}
	blocks, _ := p.parse(builtInPolicies) // a test checks them
	_ = s.take(builtInFile, blocks)
}

// check checks policies, used or not. A test checks the built-in ones.
func (s *policySet) check(policies []*policyDef) error {
	for _, def := range policies {
		if _, err := s.flatten(def); err != nil {
			return err
		}
		if err := option.Check(def.settings); err != nil {
			return err
		}
	}
	return nil
}

// mostAncestors is the greatest length of a chain of inheritance.
const mostAncestors = 50

// flatten returns the policy's settings over those of what it inherits.
func (s *policySet) flatten(def *policyDef) ([]option.Setting, error) {
	settings := def.settings
	seen := []string{def.Name}
	for def.Inherit != "" {
		parent := s.byName[def.Inherit]
		if parent == nil {
			return nil, def.parentAt.fault("inherit: %w", s.unknown(def.Inherit))
		}
		switch {
		case slices.Contains(seen, parent.Name):
			return nil, def.parentAt.fault("inherit: a policy cannot inherit from itself: %s",
				strings.Join(append(seen, parent.Name), " > "))
		case len(seen) == mostAncestors:
			return nil, def.parentAt.fault("inherit: more than %d policies in a row are too many", mostAncestors)
		}
		inherited := slices.Clone(parent.settings)
		for i := range inherited {
			inherited[i].Generation = len(seen)
		}
		seen = append(seen, parent.Name)
		settings = option.Merge(inherited, settings)
		def = parent
	}
	return settings, nil
}

// notRead is the warning about the files that others could have written, "" if there are none.
func (s *policySet) notRead() string {
	if len(s.ignored) == 0 {
		return ""
	}
	return "not read, since users other than its owner can write it or it belongs to another user: " +
		strings.Join(s.ignored, ", ")
}

// unknown is the error for a name that no policy has; it lists those that exist, and the files
// that may hold it and were not read.
func (s *policySet) unknown(name string) error {
	if ignored := s.notRead(); ignored != "" {
		return fmt.Errorf("there is no policy %q; %s", name, ignored)
	}
	var names []string
	for _, other := range s.all() {
		if option.Near(name, other.Name, 2) && len(name) > 2 {
			return fmt.Errorf("there is no policy %q, did you mean %q?", name, other.Name)
		}
		names = append(names, other.Name)
	}
	return fmt.Errorf("there is no policy %q; there are %s (retry --policy list prints where each is defined)", name,
		strings.Join(names, ", "))
}

// all are the policies that --policy can name, in the order in which they are found.
func (s *policySet) all() (all []option.NamedPolicy) {
	for _, def := range s.policies {
		if s.byName[def.Name] == def {
			all = append(all, def.NamedPolicy)
		}
	}
	return all
}
