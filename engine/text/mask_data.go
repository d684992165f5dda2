package text

// This file reads the lists of what is secret: names, shapes and flags of commands.

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

var (
	//go:embed secrets/names.txt
	namesList string
	//go:embed secrets/shapes.txt
	shapesList string
	//go:embed secrets/tools.txt
	toolsList string
)

// secrets are the lists.
type secrets struct {
	part  [256][]string // by their first byte
	words map[string][]string
	shape [256][]shape      // by their first byte
	tools map[string][]tool // by the name of their command
	open  []tool            // whose name may go on
}

// shape is how a token begins, or an address behind whose prefix a secret follows.
type shape struct {
	prefix     string
	url, digit bool
}

// tool is a command that takes a secret in a flag.
type tool struct {
	name  string
	word  string // that has to follow the name, "" for none
	form  string
	flags []string
}

// The kinds of words in the list of names.
const (
	endKind, flagKind, queryKind, notKind, plainKind = "end", "flag", "query", "not", "plain"
)

var known = sync.OnceValue(func() *secrets {
	s := &secrets{words: map[string][]string{}, tools: map[string][]tool{}}
	for kind, rest := range entries(namesList) {
		if kind != "part" {
			s.words[kind] = append(s.words[kind], rest)
			continue
		}
		s.part[rest[0]] = append(s.part[rest[0]], rest)
	}
	for kind, rest := range entries(shapesList) {
		rest, _, _ = strings.Cut(rest, "\t")
		prefix, digit := strings.CutSuffix(rest, " digit")
		s.shape[prefix[0]] = append(s.shape[prefix[0]], shape{prefix, kind == "url", digit})
	}
	for names, rest := range entries(toolsList) {
		fields := strings.Fields(rest)
		for name := range strings.SplitSeq(names, ",") {
			name, word, _ := strings.Cut(name, "/")
			name, open := strings.CutSuffix(name, "*")
			if t := (tool{name, word, fields[0], fields[1:]}); open {
				s.open = append(s.open, t)
			} else {
				s.tools[name] = append(s.tools[name], t)
			}
		}
	}
	return s
})

// entries are the lines of a list: the first word, and the rest.
func entries(list string) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(list) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			word := until(line, " \t")
			if !yield(line[:word], strings.TrimSpace(line[word:])) {
				return
			}
		}
	}
}

// named returns what is known of the flags of a command.
func (s *secrets) named(name string) []tool {
	if tools := s.tools[name]; tools != nil {
		return tools
	}
	for i, t := range s.open {
		if strings.HasPrefix(name, t.name) {
			return s.open[i:][:1]
		}
	}
	return nil
}

// is reports whether a word is in the list of names as one of the kind.
func (s *secrets) is(kind, word string) bool { return slices.Contains(s.words[kind], word) }

// secretName returns the length of a part of the name of a secret at the beginning of s, 0
// for none.
func secretName(s string) int {
	for _, name := range known().part[s[0]|0x20] {
		if hasPrefixFold(s, name) {
			return len(name)
		}
	}
	return 0
}

// namesSecret reports whether a name holds a part of that of a secret.
func namesSecret(s string) bool {
	for i := range len(s) {
		if secretName(s[i:]) > 0 {
			return true
		}
	}
	return false
}

// longestEnd bounds what is looked at of a name.
const longestEnd = 64

// endsSecret reports whether a name ends as that of a secret does.
func endsSecret(name string) bool {
	name = name[max(0, len(name)-longestEnd):]
	lower := strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
	k := known()
	is := slices.ContainsFunc(k.words[endKind], func(end string) bool {
		if end == strings.ToLower(end) {
			return strings.HasSuffix(lower, end)
		}
		before, found := strings.CutSuffix(name, end)
		return found && before != "" && isIn(letters+digits, before[len(before)-1])
	})
	return is && name != "PWD" && !slices.ContainsFunc(k.words[notKind], func(not string) bool {
		before, found := strings.CutSuffix(lower, not)
		return found && (before == "" || before[len(before)-1] == '-')
	})
}

// flagSecret reports whether the value of a flag of a command is a secret by its name.
func flagSecret(flag string) bool {
	name := strings.TrimLeft(flag, "-")
	switch {
	case len(flag) < 3 || flag[0] != '-' || name == "" || flag == notSecret || run(name, nameBytes) < len(name):
		return false
	case namesSecret(flag), known().is(flagKind, strings.ToLower(name)) && strings.HasPrefix(flag, "--"):
		return true
	}
	return endsSecret(name) && !hasPrefixFold(name, "no-") && !hasPrefixFold(name, "without-")
}

// isPlain reports whether a value of a name that ends as that of a secret is none.
func isPlain(name, value string) bool {
	if known().is(plainKind, strings.ToLower(value)) {
		return true
	}
	return strings.EqualFold(name, "pwd") && value != "" && isIn("/~.$", value[0]) // a directory
}
