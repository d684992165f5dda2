package classify

// This file reads rule files, whose keys docs/rules.md describes. In the built-in ones a
// rule with "on content" also reads lines that quote something (rules/lines.kinds), and a
// test demands a source and both examples.
//
// The same file may hold blocks that begin with "policy", and lines "include FILE": they
// are for others to read, and are passed over here.

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/retrysh/retry/engine/blockfile"
	"github.com/retrysh/retry/engine/event"
)

// ParseRules reads a rule file; name is its name in errors, which also give
// the line. Every pattern is compiled to prove it valid.
func ParseRules(name string, data []byte) (*Table, error) {
	p, err := parseRules(name, string(data), nil)
	if err != nil {
		return nil, err
	}
	for _, over := range p.overs {
		_, here := p.ids[over.Value]
		if !here && !slices.ContainsFunc(BuiltIn().Rules(), func(r *Rule) bool { return r.ID == over.Value }) {
			return nil, fmt.Errorf("%s:%d: over %q: there is no such rule in this file, nor in the built-in table",
				name, over.Number, over.Value)
		}
	}
	return newTable(p.rules), nil
}

// parser is the state of reading one file.
type parser struct {
	file     string
	literals *string // of the patterns to come in a built-in file, else nil
	line     int
	rule     *Rule // the block that is being read, or nil
	other    bool  // a block for others is being read
	rules    []*Rule
	ids      map[string]int   // the line of each rule
	keys     map[string]int   // the line of each key of the block that may stand once
	overs    []blockfile.Line // for each rule that one names after over
}

func parseRules(file, data string, literals *string) (p *parser, err error) {
	p = &parser{file: file, literals: literals, ids: map[string]int{}, keys: map[string]int{}}
	for line := range blockfile.Lines(data) {
		p.line = line.Number
		if err = p.read(line.Key, line.Value); err != nil {
			break
		}
	}
	if err == nil {
		err = p.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
	}
	return p, nil
}

// read takes one line of the file.
func (p *parser) read(key, value string) error {
	switch key {
	case "", "policy", "include", "rule":
		p.other = key == "policy"
		if err := p.finish(); err != nil || key != "rule" {
			return err
		}
	}
	switch {
	case p.other:
		return nil
	case value == "":
		return fmt.Errorf("%q needs a value", key)
	case key == "rule":
		return p.begin(value)
	case p.rule == nil:
		return fmt.Errorf("%q stands before any rule; begin with a line such as \"rule my-id\"", key)
	}
	return p.field(key, value)
}

func (p *parser) begin(id string) error {
	if strings.Trim(id, alphanumerics+"-") != "" {
		return fmt.Errorf("rule id %q may hold letters, digits and dashes only", id)
	}
	if first, taken := p.ids[id]; taken {
		return fmt.Errorf("rule %q stands on line %d already", id, first)
	}
	p.ids[id] = p.line
	clear(p.keys)
	p.rule = &Rule{ID: id, builtIn: p.literals != nil, file: p.file, line: p.line}
	return nil
}

// field takes one line of a rule's block.
func (p *parser) field(key, value string) (err error) {
	r := p.rule
	switch key {
	case "stream", "verdict", "strength", "args", "yields", "reason", "source":
		if first, again := p.keys[key]; again {
			return fmt.Errorf("rule %q has a %s on line %d already", r.ID, key, first)
		}
		p.keys[key] = p.line
	}
	switch key {
	case "tools":
		r.Tools = append(r.Tools, strings.Fields(value)...)
	case "args":
		r.Args, err = newPattern("^(?:"+value+")$", p.line, p.literals != nil)
	case "exit":
		if r.Exits, err = appendExits(r.Exits, value); err != nil {
			err = fmt.Errorf("exit: %w", err)
		}
	case "stream":
		r.Stream, err = oneOf(key, value, "stdout or stderr, or leave it out for both", "stdout", "stderr")
	case "match":
		r.patterns, err = addPattern(r.patterns, value, p.line, p.literals)
	case "unless":
		r.unless, err = addPattern(r.unless, value, p.line, p.literals)
	case "unless-of":
		other := slices.IndexFunc(p.rules, func(o *Rule) bool { return o.ID == value })
		if other < 0 {
			return fmt.Errorf("unless-of %q: there is no such rule above this one in the file", value)
		}
		r.unless = append(r.unless, p.rules[other].unless...)
	case "verdict":
		r.Verdict, err = parseVerdict(value)
	case "strength":
		r.Strength, err = parseStrength(value)
	case "over":
		for id := range strings.FieldsSeq(value) {
			r.Over = append(r.Over, id)
			p.overs = append(p.overs, blockfile.Line{Number: p.line, Value: id})
		}
	case "yields":
		r.Yields, err = parseVerdict(value)
	case "on":
		value, err = oneOf(key, value, "content or command, or leave it out", "content", "command")
		r.OnContent = r.OnContent || value == "content"
		r.OnCommand = r.OnCommand || value == "command"
	case "reason":
		r.Reason = value
	case "source":
		r.Source = value
	case "yes":
		r.Yes = append(r.Yes, value)
	case "no":
		r.No = append(r.No, value)
	default:
		err = fmt.Errorf("unknown key %q; the keys are rule, tools, args, exit, stream, match, unless, unless-of, "+
			"verdict, strength, on, over, yields, reason, source, yes and no", key)
	}
	return err
}

// finish ends a block and proves it whole.
func (p *parser) finish() error {
	r := p.rule
	if r == nil {
		return nil
	}
	p.rule = nil
	switch {
	case r.Verdict == "":
		return fmt.Errorf("rule %q has no verdict; add \"verdict transient\" or \"verdict permanent\"", r.ID)
	case r.Reason == "":
		return fmt.Errorf("rule %q has no reason; add a line \"reason what happened\"", r.ID)
	case len(r.patterns) == 0 && len(r.Exits) == 0:
		return fmt.Errorf("rule %q matches everything; add an exit or a match line", r.ID)
	case len(r.patterns) == 0 && (len(r.unless) > 0 || r.Stream != ""):
		return fmt.Errorf("rule %q has unless or stream without a match line", r.ID)
	}
	p.rules = append(p.rules, r)
	return nil
}

func parseVerdict(value string) (event.Verdict, error) {
	return oneOf("verdict", event.Verdict(value), "transient, permanent or unknown",
		event.Transient, event.Permanent, event.Unknown)
}

func parseStrength(value string) (Strength, error) {
	for _, s := range []Strength{Weak, Plain, Decisive} {
		if s.String() == value {
			return s, nil
		}
	}
	return Plain, unknownWord("strength", value, "weak, plain or decisive")
}

// oneOf returns the value, which must be one of those that are valid.
func oneOf[T ~string](key string, value T, hint string, valid ...T) (T, error) {
	if !slices.Contains(valid, value) {
		return "", unknownWord(key, string(value), hint)
	}
	return value, nil
}

// unknownWord is the error for a value of a key that takes certain words, which hint lists.
func unknownWord(key, value, hint string) error { return fmt.Errorf("%s %q: use %s", key, value, hint) }

// addPattern appends a pattern to a list. In a built-in file the next line of literals is its
// own; literals is nil for a user's.
func addPattern(list []*pattern, text string, line int, literals *string) ([]*pattern, error) {
	p, err := newPattern(text, line, literals != nil)
	switch {
	case err != nil:
		return nil, err
	case literals != nil:
		both, rest, _ := strings.Cut(*literals, "\n")
		p.literals, p.also, _ = strings.Cut(both, "\t\t")
		*literals = rest
	default:
		p.literals, p.also = requiredLiterals(text)
	}
	return append(list, p), nil
}

// newPattern returns a pattern. That of a user is compiled to prove it valid; those that are
// built in are proved by a test.
func newPattern(text string, line int, builtIn bool) (*pattern, error) {
	if !builtIn {
		if _, err := regexp.Compile(foldCase + text); err != nil {
			// Its text quotes the pattern with foldCase before it.
			return nil, fmt.Errorf("pattern %q: %s", text, err.(*syntax.Error).Code)
		}
	}
	return &pattern{text: text, line: line}, nil
}
