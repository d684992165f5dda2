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

// nameList is the list of names.
type nameList struct {
	part  [256][]string // of the names of secrets, by their first byte
	words map[string][]string
}

// shapeList is the list of shapes, by their first byte.
type shapeList [256][]shape

// toolList is the list of commands.
type toolList struct {
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
	endKind   = "end"
	flagKind  = "flag"
	queryKind = "query"
	notKind   = "not"
	plainKind = "plain"
)

// Each list is read when a text needs it: most have no flag of a known command.
var (
	knownNames  = sync.OnceValue(readNames)
	knownShapes = sync.OnceValue(readShapes)
	knownTools  = sync.OnceValue(readTools)
)

func readNames() *nameList {
	n := &nameList{words: map[string][]string{}}
	for kind, rest := range entries(namesList) {
		if kind != "part" {
			n.words[kind] = append(n.words[kind], rest)
			continue
		}
		n.part[rest[0]] = append(n.part[rest[0]], rest)
	}
	return n
}

func readShapes() *shapeList {
	var s shapeList
	for kind, rest := range entries(shapesList) {
		rest, _, _ = strings.Cut(rest, "\t")
		prefix, digit := strings.CutSuffix(rest, " digit")
		s[prefix[0]] = append(s[prefix[0]], shape{prefix, kind == "url", digit})
	}
	return &s
}

func readTools() *toolList {
	l := &toolList{tools: map[string][]tool{}}
	for names, rest := range entries(toolsList) {
		fields := strings.Fields(rest)
		for name := range strings.SplitSeq(names, ",") {
			name, word, _ := strings.Cut(name, "/")
			name, open := strings.CutSuffix(name, "*")
			t := tool{name, word, fields[0], fields[1:]}
			if open {
				l.open = append(l.open, t)
			} else {
				l.tools[name] = append(l.tools[name], t)
			}
		}
	}
	return l
}

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
func (l *toolList) named(name string) []tool {
	if tools := l.tools[name]; tools != nil {
		return tools
	}
	for i, t := range l.open {
		if strings.HasPrefix(name, t.name) {
			return l.open[i:][:1]
		}
	}
	return nil
}

// is reports whether a word is in the list of names as one of the kind.
func (n *nameList) is(kind, word string) bool { return slices.Contains(n.words[kind], word) }

// secretName returns the length of a part of the name of a secret at the beginning of s, 0
// for none.
func secretName(s string) int {
	for _, name := range knownNames().part[s[0]|0x20] {
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
	known := knownNames()
	is := slices.ContainsFunc(known.words[endKind], func(end string) bool {
		if end == strings.ToLower(end) {
			return strings.HasSuffix(lower, end)
		}
		before, found := strings.CutSuffix(name, end)
		return found && before != "" && isIn(letters+digits, before[len(before)-1])
	})
	return is && name != "PWD" && !slices.ContainsFunc(known.words[notKind], func(not string) bool {
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
	case namesSecret(flag), knownNames().is(flagKind, strings.ToLower(name)) && strings.HasPrefix(flag, "--"):
		return true
	}
	return endsSecret(name) && !hasPrefixFold(name, "no-") && !hasPrefixFold(name, "without-")
}

// isPlain reports whether a value of a name that ends as that of a secret is none.
func isPlain(name, value string) bool {
	if knownNames().is(plainKind, strings.ToLower(value)) {
		return true
	}
	return strings.EqualFold(name, "pwd") && value != "" && isIn("/~.$", value[0]) // a directory
}
