package policy

// This file parses policy files: blocks of settings by name, in the format of rule
// files (package blockfile).
//
//	include  FILE         more of them, read at this place; globs, relative to this file
//	policy   NAME         begins a block, which ends at a blank line
//	inherit  NAME         the settings of that policy, under this one's
//	FLAG     VALUE        any flag that a variable can set, by its long name
//
// A flag without a value may be followed by true or false. A repeatable one may be
// on several lines. Package classify parses the blocks that begin with "rule".
//
// Values are checked later, where those of the command line are.

import (
	"errors"
	"fmt"
	"strings"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/blockfile"
)

// policyDef is one policy as it was written, or an include.
type policyDef struct {
	option.NamedPolicy
	place    place
	include  string           // "" for a policy
	settings []option.Setting // its own, in their order
	parentAt place
}

type place struct {
	file string
	line int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// fault is a mistake on that line.
func (p place) fault(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{p}, args...)...)
}

// policyParser is the state of reading one file.
type policyParser struct {
	file     string
	blocks   []*policyDef
	policy   *policyDef // that is being read, or nil
	inRule   bool       // a rule is being read
	hasRules bool
	names    map[string]int // the line of each policy
	flags    map[string]int // the line of each key of the policy that is being read
}

func (p *policyParser) parse(text string) ([]*policyDef, error) {
	p.names = map[string]int{}
	for line := range blockfile.Lines(text) {
		if err := p.line(place{p.file, line.Number}, line.Key, line.Value); err != nil {
			return nil, err
		}
	}
	return p.blocks, nil
}

func (p *policyParser) line(at place, key, value string) error {
	if strings.Contains(key+value, "\x00") {
		return at.fault("holds a NUL byte, which no flag can have")
	}
	switch key {
	case "", "rule", "include", "policy": // they end a block
		p.policy = nil
		p.inRule = key == "rule"
		p.hasRules = p.hasRules || p.inRule
	}
	switch {
	case key == "" || p.inRule:
		return nil
	case (key == "include" || key == "policy") && value == "":
		return at.fault("%q needs a value", key)
	case key == "include":
		p.blocks = append(p.blocks, &policyDef{include: value, place: at})
		return nil
	case key == "policy":
		return p.begin(at, value)
	case p.policy == nil:
		return at.fault("%q is outside of any block; begin one with a line such as \"policy my-name\"", key)
	}
	return p.field(at, key, value)
}

func (p *policyParser) begin(at place, name string) error {
	if err := checkPolicyName(name); err != nil {
		return at.fault("policy %w", err)
	}
	if first, taken := p.names[name]; taken {
		return at.fault("policy %q is already defined on line %d", name, first)
	}
	p.names[name] = at.line
	p.flags = map[string]int{}
	p.policy = &policyDef{NamedPolicy: option.NamedPolicy{Name: name, Source: at.String()}, place: at}
	p.blocks = append(p.blocks, p.policy)
	return nil
}

// checkPolicyName refuses what would be ambiguous in a list of names or a message.
func checkPolicyName(name string) error {
	const inside = "-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	switch {
	case name == "":
		return errors.New(`"" is not a name`)
	case strings.Trim(name, inside) != "" || name[0] == '-' || name[0] == '.':
		return fmt.Errorf("%q is not a name; use letters, digits, and - . _ between them", name)
	}
	return nil
}

func (p *policyParser) field(at place, key, value string) error {
	def := p.policy
	first, again := p.flags[key]
	p.flags[key] = at.line
	if key == "inherit" {
		if err := checkPolicyName(value); err != nil {
			return at.fault("inherit: %w", err)
		}
		if again {
			return at.fault("policy %q has %q on line %d already", def.Name, key, first)
		}
		def.Inherit, def.parentAt = value, at
		return nil
	}
	f := option.ByName(key)
	if f == nil {
		return at.fault("%w", unknownKey(key, value))
	}
	if again && !f.Repeats() {
		return at.fault("policy %q has %q on line %d already", def.Name, key, first)
	}
	value, err := policyValue(f, value)
	if err != nil {
		return at.fault("%s: %w", key, err)
	}
	def.settings = append(def.settings, option.Setting{
		Flag: f, Value: value, Word: at.String() + ": " + key, Source: option.FromPolicy,
	})
	return nil
}

// policyValue checks that the flag is allowed in a policy, with that value.
func policyValue(f *option.Flag, value string) (string, error) {
	switch {
	case !f.HasVariable():
		return "", errors.New("this flag is valid on the command line only")
	case f.Tag("policy") == "no":
		return "", errors.New(`this flag selects a policy and is not allowed in one; "inherit NAME" takes over another`)
	case f.IsBool() && value == "":
		return "true", nil
	case f.IsBool() && option.Truth(value) == "":
		return "", fmt.Errorf("%q is not true or false", value)
	case f.IsBool():
		return option.Truth(value), nil
	case value == "":
		return "", errors.New("needs a value")
	}
	return value, nil
}

// unknownKey says which flag may have been meant.
func unknownKey(key, value string) error {
	var meant []string
	for _, setting := range option.InOwnWords(key, value) {
		meant = append(meant, fmt.Sprintf("%q", strings.TrimSpace(setting[0]+" "+setting[1])))
	}
	if len(meant) == 0 {
		for _, name := range option.Suggest(key) {
			meant = append(meant, fmt.Sprintf("%q", name))
		}
	}
	if len(meant) == 0 {
		return fmt.Errorf("there is no flag %q; a policy holds flags by their long names, and inherit", key)
	}
	return fmt.Errorf("there is no flag %q, did you mean %s?", key, strings.Join(meant, " or "))
}
