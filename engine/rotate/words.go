package rotate

// This file reads lists, and puts values into the words of a command.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Parse reads "NAME=a,b,c", or "NAME@=a,b,c" to begin at random. Blanks around a value are
// removed; a value has no comma.
func Parse(text string) (List, error) {
	name, values, found := strings.Cut(text, "=")
	if !found {
		return List{}, fmt.Errorf("%q is not NAME=VALUE,VALUE,... such as HOST=a.example,b.example", text)
	}
	var l List
	l.Name, l.Random = strings.CutSuffix(name, "@")
	if l.Name == "" || strings.ContainsFunc(l.Name, func(c rune) bool { return c > 0x7f || !inName(byte(c)) }) {
		return List{}, fmt.Errorf("%q is not a name; a name has letters, digits, _ and - only, as in HOST=a,b", l.Name)
	}
	for value := range strings.SplitSeq(values, ",") {
		value = strings.TrimSpace(value)
		if value == "" {
			return List{}, fmt.Errorf("%q has an empty value; separate the values by single commas, as in %s=a,b", text, name)
		}
		l.Values = append(l.Values, value)
	}
	return l, nil
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// Words returns the words with each {NAME} replaced by its value, once. After a $ it is a
// variable of the shell and stays, as does every other brace.
func (u Use) Words(words []string) []string {
	if len(u) == 0 {
		return words
	}
	replaced := slices.Clone(words)
	for i, word := range words {
		replaced[i] = u.word(word)
	}
	return replaced
}

func (u Use) word(word string) string {
	var b strings.Builder
	done := 0
	for i := range len(word) {
		if i < done || word[i] != '{' {
			continue
		}
		for _, v := range u {
			if v.standsAt(word, i) {
				b.WriteString(word[done:i])
				b.WriteString(v.Text)
				done = i + len(v.Name) + len("{}")
				break
			}
		}
	}
	return b.String() + word[done:]
}

// standsAt reports whether {NAME} stands at byte i of word.
func (l *List) standsAt(word string, i int) bool {
	rest, found := strings.CutPrefix(word[i:], "{"+l.Name)
	return found && strings.HasPrefix(rest, "}") && (i == 0 || word[i-1] != '$')
}

// CheckUsed returns an error if the value is not used: the words of the command have
// neither {NAME} nor the name of the variable, and the scripts around it, in which nothing
// is replaced, do not have the latter.
func (l *List) CheckUsed(words []string, scripts ...string) error {
	shell := false
	for n, word := range slices.Concat(words, scripts) {
		command := n < len(words)
		for i := range len(word) {
			if command && l.standsAt(word, i) || l.variableAt(word, i) {
				return nil
			}
		}
		shell = shell || command && strings.Contains(word, "${"+l.Name+"}")
	}
	if shell {
		return fmt.Errorf("${%s} in the command is a variable of the shell; write {%[1]s}, or $%s", l.Name, l.Variable())
	}
	return errors.New("{" + l.Name + "} does not stand in the command; write it where the value goes, or hand it on, as in: env HOST={" + l.Name + "} COMMAND")
}

// variableAt reports whether the name of the variable stands at byte i of word.
func (l *List) variableAt(word string, i int) bool {
	rest, found := strings.CutPrefix(word[i:], l.Variable())
	return found && (rest == "" || !inVariable(rest[0])) && (i == 0 || !inVariable(word[i-1]))
}

func inVariable(c byte) bool { return c != '-' && inName(c) }
