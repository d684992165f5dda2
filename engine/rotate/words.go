package rotate

// This file reads lists, and puts values into the words of a command.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Parse reads "NAME=a,b,c". Blanks around a value are removed; a value has no comma.
func Parse(text string) (List, error) {
	name, values, found := strings.Cut(text, "=")
	if !found {
		return List{}, fmt.Errorf("%q is not NAME=VALUE,VALUE,... such as HOST=a.example,b.example", text)
	}
	l := List{Name: name}
	if l.Name == "" || strings.TrimLeft(l.Name, nameBytes) != "" {
		return List{}, fmt.Errorf("%q is not a name; a name has letters, digits, _ and - only, as in HOST=a,b", l.Name)
	}
	for value := range strings.SplitSeq(values, ",") {
		value = strings.TrimSpace(value)
		if value == "" {
			return List{}, fmt.Errorf("%q has an empty value; separate the values by single commas, as in %s=a,b", text,
				name)
		}
		l.Values = append(l.Values, value)
	}
	return l, nil
}

// UnmarshalText is Parse.
func (l *List) UnmarshalText(text []byte) (err error) {
	*l, err = Parse(string(text))
	return err
}

// nameBytes are the bytes of a name.
const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// Words returns the words with each {NAME} replaced by its value, once. After a $ it is a
// variable of the shell and stays, as does every other brace.
func (u Use) Words(words []string) []string {
	if len(u) == 0 {
		return words
	}
	var pairs []string
	for _, v := range u {
		pairs = append(pairs, "$"+v.place(), "$"+v.place(), v.place(), v.Text)
	}
	values, replaced := strings.NewReplacer(pairs...), slices.Clone(words)
	for i, word := range words {
		replaced[i] = values.Replace(word)
	}
	return replaced
}

// place is where the value goes in a word.
func (l *List) place() string { return "{" + l.Name + "}" }

// CheckUsed returns an error if the value is not used: the words of the command have
// neither {NAME} nor the name of the variable, and the scripts around it, in which nothing
// is replaced, do not have the latter.
func (l *List) CheckUsed(words []string, scripts ...string) error {
	shell := false
	for _, word := range words {
		others := strings.ReplaceAll(word, "$"+l.place(), "$")
		if strings.Contains(others, l.place()) {
			return nil
		}
		shell = shell || others != word
	}
	variable := regexp.MustCompile(`\b` + l.Variable() + `\b`)
	if slices.ContainsFunc(slices.Concat(words, scripts), variable.MatchString) {
		return nil
	}
	if shell {
		return fmt.Errorf("${%s} in the command is a variable of the shell; write {%[1]s}, or $%s", l.Name,
			l.Variable())
	}
	return fmt.Errorf("%s does not stand in the command; write it where the value goes, or hand it on, as in: env "+
		"HOST=%[1]s COMMAND", l.place())
}
