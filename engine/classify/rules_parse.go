package classify

// This file reads rule files.
//
// A rule file is lines of "key value", one block a rule, blocks divided by
// blank lines, # at the start of a line for comments (see package block):
//
//	rule     ID           letters, digits and dashes; begins the block
//	tools    NAME...      commands by their plain names; without it, any command
//	exit     LIST         codes, ranges and signals: 6,7,100-110,SIGKILL; without it, any failure
//	stream   stdout       or stderr; without it, both
//	match    PATTERN      a regular expression (RE2), tried on each line, blind to case; may be repeated (one of them must match)
//	unless   PATTERN      the rule does not match a line that matches this; may be repeated
//	verdict  transient    or permanent, or unknown
//	strength plain        or weak, or decisive; see Judge
//	on       content      the rule also reads lines that quote something (rules/lines.kinds); a user's rule reads every line anyway
//	over     ID...        rules that this one beats on the same line
//	yields   VERDICT      a rule of that verdict that matches further on in the line beats this one
//	stale    DURATION     a lock that the output says to be held for longer is permanent (1h)
//	reason   TEXT         what happened, in a user's words
//	source   TEXT         where the meaning of the evidence is written down
//	yes      LINE         an example that matches ("exit N" for a rule without a pattern); may be repeated
//	no       LINE         an example that must not match; may be repeated
//
// Key and value are divided by blanks or tabs. Verdict, strength, stream,
// yields, stale, reason and source stand once in a rule; what over names must exist in
// the file or in the built-in table.
//
// A rule needs an ID, a verdict, a reason, and at least one of exit and match.
// The built-in rules also need a source and both examples; a test proves it.
//
// The same file may hold blocks that begin with "policy", and lines "include
// FILE": they are for others to read, and are passed over here.

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/blockfile"
	"github.com/retrysh/retry/engine/event"
)

// ParseRules reads a rule file; name is its name in errors, which also give
// the line. Every pattern is compiled to prove it valid.
func ParseRules(name string, data []byte) (*Table, error) {
	p, err := parseRules(name, string(data), true)
	if err != nil {
		return nil, err
	}
	if err := p.references(); err != nil {
		return nil, err
	}
	return newTable(p.rules, make([]int, len(p.rules))), nil
}

// parser is the state of reading one file.
type parser struct {
	file  string
	check bool // compile each pattern
	line  int
	rule  *Rule // the block that is being read, or nil
	other bool  // a block for others is being read
	rules []*Rule
	ids   map[string]int // the line of each rule
	keys  map[string]int // the line of each key of the block that may stand once
	overs []reference    // what the rules name after over
}

// reference is the ID of a rule, named on a line.
type reference struct {
	id   string
	line int
}

func parseRules(file, data string, check bool) (*parser, error) {
	p := &parser{file: file, check: check, ids: map[string]int{}}
	for line := range blockfile.Lines(data) {
		p.line = line.Number
		if err := p.read(line.Key, line.Value); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
		}
	}
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
	}
	return p, nil
}

// references proves that each rule named after over exists.
func (p *parser) references() error {
	for _, ref := range p.overs {
		if _, ok := p.ids[ref.id]; !ok && !slices.ContainsFunc(BuiltIn().Rules(), func(r *Rule) bool { return r.ID == ref.id }) {
			return fmt.Errorf("%s:%d: over %q: there is no such rule in this file, nor in the built-in table", p.file, ref.line, ref.id)
		}
	}
	return nil
}

// read takes one line of the file.
func (p *parser) read(key, value string) error {
	switch key {
	case "", "policy", "include":
		p.other = key == "policy"
		return p.finish()
	case "rule":
		p.other = false
		if err := p.finish(); err != nil {
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
	for _, c := range id {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-') {
			return fmt.Errorf("rule id %q may hold letters, digits and dashes only", id)
		}
	}
	if first, taken := p.ids[id]; taken {
		return fmt.Errorf("rule %q stands on line %d already", id, first)
	}
	p.ids[id] = p.line
	p.keys = map[string]int{}
	p.rule = &Rule{ID: id, file: p.file, line: p.line}
	return nil
}

// field takes one line of a rule's block.
func (p *parser) field(key, value string) (err error) {
	r := p.rule
	switch key {
	case "stream", "verdict", "strength", "on", "yields", "stale", "reason", "source":
		if first, again := p.keys[key]; again {
			return fmt.Errorf("rule %q has a %s on line %d already", r.ID, key, first)
		}
		p.keys[key] = p.line
	}
	switch key {
	case "tools":
		r.Tools = append(r.Tools, strings.Fields(value)...)
	case "exit":
		err = p.exits(value)
	case "stream":
		if value != "stdout" && value != "stderr" {
			return fmt.Errorf("stream %q: use stdout or stderr, or leave it out for both", value)
		}
		r.Stream = value
	case "match":
		r.patterns, err = p.pattern(r.patterns, value)
	case "unless":
		r.unless, err = p.pattern(r.unless, value)
	case "verdict":
		r.Verdict, err = parseVerdict(value)
	case "strength":
		r.Strength, err = parseStrength(value)
	case "over":
		for id := range strings.FieldsSeq(value) {
			r.Over = append(r.Over, id)
			p.overs = append(p.overs, reference{id, p.line})
		}
	case "yields":
		r.Yields, err = parseVerdict(value)
	case "stale":
		if r.Stale, err = time.ParseDuration(value); err != nil || r.Stale <= 0 {
			err = fmt.Errorf("stale %q: use a duration such as 1h", value)
		}
	case "on":
		if value != string(contentLine) {
			return fmt.Errorf("on %q: use content, or leave it out", value)
		}
		r.OnContent = true
	case "reason":
		r.Reason = value
	case "source":
		r.Source = value
	case "yes":
		r.Yes = append(r.Yes, value)
	case "no":
		r.No = append(r.No, value)
	default:
		err = fmt.Errorf("unknown key %q; the keys are rule, tools, exit, stream, match, unless, verdict, strength, on, over, yields, stale, reason, source, yes and no", key)
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

func (p *parser) pattern(list []*pattern, text string) ([]*pattern, error) {
	if p.check {
		if _, err := regexp.Compile(foldCase + text); err != nil {
			// The error's own text quotes the pattern with foldCase before it.
			var fault *syntax.Error
			if errors.As(err, &fault) {
				err = errors.New(fault.Code.String())
			}
			return nil, fmt.Errorf("pattern %q: %w", text, err)
		}
	}
	return append(list, &pattern{text: text, lineNum: p.line}), nil
}

// exits reads a list of codes, ranges and signals.
func (p *parser) exits(list string) error {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			return fmt.Errorf("exit list %q has an empty entry", list)
		}
		if word[0] < '0' || word[0] > '9' {
			sig, err := attempt.ParseSignal(word)
			if err != nil {
				return fmt.Errorf("exit %w", err)
			}
			p.rule.Exits = append(p.rule.Exits, ExitRange{Signal: sig})
			continue
		}
		from, to, ranged := strings.Cut(word, "-")
		if !ranged {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first < 0 || last > 255 || first > last {
			return fmt.Errorf("exit %q: use a code from 0 to 255, a range such as 100-110, or a signal such as KILL", word)
		}
		p.rule.Exits = append(p.rule.Exits, ExitRange{First: first, Last: last})
	}
	return nil
}

func parseVerdict(s string) (event.Verdict, error) {
	switch v := event.Verdict(s); v {
	case event.Transient, event.Permanent, event.Unknown:
		return v, nil
	}
	return "", fmt.Errorf("verdict %q: use transient, permanent or unknown", s)
}

func parseStrength(s string) (Strength, error) {
	switch s {
	case "weak":
		return Weak, nil
	case "plain":
		return Plain, nil
	case "decisive":
		return Decisive, nil
	}
	return Plain, fmt.Errorf("strength %q: use weak, plain or decisive", s)
}
