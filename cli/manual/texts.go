package manual

// This file joins kong's model of the flags with the text that is written about each.

import (
	"embed"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// texts describes each flag, by group:
//
//	# NAME: TITLE        a section of the flags of a run
//	  text               what it is about
//	@ MODE WORDS: TITLE  a mode, with what it does, and then its own flags
//	flag PLACEHOLDER     a flag; a switch has no placeholder
//	  text               what it does, on several lines
//	  | word word        what completion offers beside the words of the flag's type
//
//go:embed flags.txt
var texts string

// pages are texts with marks such as @FLAGS@, in whose place other texts are put.
//
//go:embed pages
var pages embed.FS

func page(name string) string {
	text, _ := pages.ReadFile("pages/" + name) // tests print every page
	return string(text)
}

// marked is a page with other texts in it; marks are pairs of a mark and its text.
func marked(name string, marks ...string) string {
	return strings.NewReplacer(marks...).Replace(page(name))
}

// Group is a section of the flags.
type Group struct {
	Title string
	// Name is that of a section of a run, and Text a sentence about it; "" for a mode.
	Name, Text string
	// Mode is the mode that has the flags for itself, and is the first of them; ""
	// for those of a run.
	Mode  string
	Flags []Flag
	// OwnGrammar says that the mode does not take the flags of a run.
	OwnGrammar bool
}

// Pages is what everything here is made from.
type Pages []Group

// New joins the flags of a run, and by their names those of modes that have
// flags of their own, with the texts.
func New(run []*kong.Flag, modes map[string][]*kong.Flag) (p Pages) {
	var flag *Flag
	known := run
	for line := range strings.Lines(texts) {
		line = strings.TrimSuffix(line, "\n")
		words, isWords := strings.CutPrefix(line, "  | ")
		text, isText := strings.CutPrefix(line, "  ")
		title, isGroup := strings.CutPrefix(line, "# ")
		mode, isMode := strings.CutPrefix(line, "@ ")
		switch {
		case line == "":
		case isGroup:
			name, title, _ := strings.Cut(title, ": ")
			p = append(p, Group{Title: title, Name: name})
			known = run
			flag = nil
		case isMode:
			synopsis, title, _ := strings.Cut(mode, ": ")
			name, _, _ := strings.Cut(synopsis, " ")
			p = append(p, Group{Title: title, Mode: name, OwnGrammar: modes[name] != nil})
			flag = p.begin(synopsis, run)
			if known = modes[name]; known == nil {
				known = run
			}
		case isWords:
			flag.offered = append(flag.offered, strings.Fields(words)...)
		case isText && flag == nil:
			p[len(p)-1].Text = strings.TrimSpace(p[len(p)-1].Text + " " + text)
		case isText:
			flag.Help = strings.TrimSpace(flag.Help + " " + text)
		default:
			flag = p.begin(line, known)
		}
	}
	return p
}

// begin adds a flag to the last group. A mode with flags of its own is no
// flag of a run: it is shown as a switch.
func (p Pages) begin(head string, known []*kong.Flag) *Flag {
	group := &p[len(p)-1]
	name, placeholder, _ := strings.Cut(head, " ")
	is := ByName(known, name)
	if is == nil {
		is = Switch(name)
	}
	f := newFlag(is)
	f.PlaceHolder = placeholder
	group.Flags = append(group.Flags, f)
	return &group.Flags[len(group.Flags)-1]
}

// Placeholder is the placeholder of a flag's value, in the first text about it.
func Placeholder(name string) string { return New(nil, nil).flag(name).PlaceHolder }

// ModesOf returns the modes that have a flag of that name for themselves.
func ModesOf(name string) (modes []string) {
	for _, group := range New(nil, nil) {
		isIt := func(f Flag) bool { return f.Name == name }
		if group.Mode != "" && slices.ContainsFunc(group.Flags, isIt) {
			modes = append(modes, group.Mode)
		}
	}
	return modes
}

// IsMode reports whether a mode of that name has a grammar of its own.
func IsMode(name string) bool {
	return name != "" && slices.ContainsFunc(New(nil, nil), func(group Group) bool { return group.Mode == name })
}

// flags are those of all groups, each name once.
func (p Pages) flags() (all []Flag) {
	for _, group := range p {
		for _, f := range group.Flags {
			if !slices.ContainsFunc(all, func(other Flag) bool { return other.Name == f.Name }) {
				all = append(all, f)
			}
		}
	}
	return all
}

// flag is the first of that name.
func (p Pages) flag(name string) *Flag {
	flags := p.flags()
	return &flags[slices.IndexFunc(flags, func(f Flag) bool { return f.Name == name })]
}
