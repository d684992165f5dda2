package option

// This file translates flags of other programs into those of this one.

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/text"
)

// elsewhere says what to write here for flags of other programs; its first lines describe
// the form.
//
//go:embed elsewhere.txt
var elsewhere string

// foreign is a flag of another program, with its value.
type foreign struct {
	ways [][]string // the words to write here: one of these
	note string     // why there is nothing to write
	used int        // how many words the flag and its value take
	open bool       // a way has a place for a value that was not given
}

// foreignAt finds what the flag of another program at the beginning of argv is called here.
func foreignAt(argv []string) (f foreign, found bool) {
	name, value, joined := strings.Cut(strings.TrimLeft(argv[0], "-"), "=")
	if word := argv[0]; len(word) > 2 && word[1] != '-' && IsNumber(word[2:3]) { // such as -r3
		name, value, joined = word[1:2], word[2:], true
	}
	if next := argv[1:]; !joined && len(next) > 0 && (!isDashed(next[0]) || IsNumber(next[0][1:])) {
		value = next[0]
	}
	entry, takesValue, found := lookUp(name, value, joined)
	if !found {
		return f, false
	}
	f.used = 1
	if takesValue && !joined && value != "" {
		f.used = 2
	}
	if note, isNote := strings.CutPrefix(entry, "("); isNote {
		f.note = strings.TrimSuffix(note, ")")
		return f, true
	}
	if !takesValue {
		value = ""
	}
	for way := range strings.SplitSeq(entry, " or ") {
		words, filled := fill(way, value)
		f.ways = append(f.ways, words)
		f.open = f.open || !filled
	}
	return f, true
}

// normal is a name as elsewhere.txt has it. A letter alone means another thing as a capital.
func normal(name string) string {
	if len(name) == 1 {
		return name
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}

// bare is a name without what parts its words: maxRetries, maxretries and max-retries are
// one.
func bare(name string) string { return strings.ReplaceAll(normal(name), "-", "") }

// lookUp finds the entry for a name of another program, as it is or else without dashes.
// value is the word behind it, or what is joined to it by "=".
func lookUp(name, value string, joined bool) (entry string, takesValue, found bool) {
	entry, takesValue, found = lookUpAs(normal, name, value, joined)
	if !found && sameWords(Table(), name) == nil {
		entry, takesValue, found = lookUpAs(bare, name, value, joined)
	}
	return entry, takesValue, found
}

// lookUpAs finds the entry for a name as a function writes names.
func lookUpAs(written func(string) string, name, value string, joined bool) (entry string, takesValue, found bool) {
	name = written(name)
	for line := range strings.Lines(elsewhere) {
		names, entry, isEntry := strings.Cut(strings.TrimSpace(line), ": ")
		if !isEntry || strings.HasPrefix(line, "#") {
			continue
		}
		for known := range strings.FieldsSeq(names) {
			known, form, hasForm := strings.Cut(known, "=")
			if written(known) == name && (!hasForm || hasTheForm(value, form, joined)) {
				return entry, hasForm || strings.Contains(entry, "{"), true
			}
		}
	}
	return "", false, false
}

// sameWords is the flag whose name has the same words, however they are parted, nil if there
// is none.
func sameWords(known []Flag, name string) *Flag {
	name = bare(name)
	return first(known, func(f *Flag) bool { return bare(f.name) == name })
}

// afterOneDash finds the first word of a line that is a long name behind a single dash, as
// in -sleep 5s. As letters with values it would be -s leep.
func afterOneDash(line []string) (at int, found bool) {
	for at := range line {
		if beginsAfterOneDash(line[at:]) {
			return at, true
		}
	}
	return 0, false
}

// beginsAfterOneDash reports whether the first word of a line is such a name.
func beginsAfterOneDash(line []string) bool {
	name, hasDash := strings.CutPrefix(line[0], "-")
	name, value, joined := strings.Cut(name, "=")
	if !hasDash || len(name) < shortestName || name[0] == '-' {
		return false
	}
	if !joined && len(line) > 1 {
		value = line[1]
	}
	_, _, isForeign := lookUp(name, value, joined)
	return isForeign || sameWords(Table(), name) != nil
}

// hasTheForm reports whether a value is what an entry of elsewhere.txt asks for.
func hasTheForm(value, form string, joined bool) bool {
	switch form {
	case "<any>":
		return joined
	case "<number>":
		return IsNumber(value)
	case "<duration>":
		_, err := backoff.ParseDuration(value)
		return err == nil
	case "<target>":
		return LooksLikeTarget(value)
	case "<address>":
		_, port, hasPort := strings.Cut(value, ":")
		return hasPort && IsNumber(port)
	}
	return strings.EqualFold(value, form)
}

// IsNumber reports whether s is a whole number, without a sign.
func IsNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// place is where the value stands in a way.
var place = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\+1|%)?\}`) })

// fill writes a value into a way. If there is none, or it is not of the kind that the way
// wants, a name stands in its place.
func fill(way, value string) (words []string, filled bool) {
	filled = true
	for word := range strings.FieldsSeq(way) {
		words = append(words, place().ReplaceAllStringFunc(word, func(form string) string {
			written := value
			switch form {
			case "{+1}":
				written = oneMore(value)
			case "{%}":
				written = percentage(value)
			}
			if written == "" {
				filled = false
				return "VALUE"
			}
			return written
		}))
	}
	return words, filled
}

// oneMore is the number of attempts for a number of retries, "" if it is none.
func oneMore(retries string) string {
	n, err := strconv.Atoi(retries)
	if err != nil || n < 0 {
		return ""
	}
	return strconv.Itoa(n + 1)
}

// percentage writes a fraction from 0 to 1 as a percentage, "" if it is none.
func percentage(fraction string) string {
	f, err := strconv.ParseFloat(fraction, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return ""
	}
	return strconv.FormatFloat(100*f, 'f', -1, 64) + "%"
}

// translated is a command line with each flag of another program as it is written here. It
// is not ok if one of them is not known, or what is meant is open.
func translated(argv []string) (line []string, ok bool) {
	known := Table()
	for len(argv) > 0 && argv[0] != "--" && isDashed(argv[0]) {
		word := inFull(argv)
		if _, takesNext, isOurs := flagsOf(known, word); isOurs {
			n := 1
			if takesNext && len(argv) > 1 {
				n = 2
			}
			line = append(append(line, word), argv[1:n]...)
			argv = argv[n:]
			continue
		}
		f, found := foreignAt(argv)
		if !found || f.open || len(f.ways) > 1 {
			return nil, false
		}
		line = append(line, slices.Concat(f.ways...)...)
		alone := f.used == 1 && !strings.Contains(argv[0], "=")
		argv = argv[f.used:]
		if alone && len(argv) > 1 && argv[1] == "--" && !isDashed(argv[0]) {
			return nil, false // a value of a flag that takes none here
		}
	}
	line = withoutSecondLimit(line)
	if len(argv) > 0 && argv[0] != "--" {
		line = append(line, "--")
	}
	return append(line, argv...), true
}

// inFull is the first word of a line, with two dashes if it is a long name behind one.
func inFull(line []string) string {
	if !beginsAfterOneDash(line) {
		return line[0]
	}
	name, value, joined := strings.Cut(line[0][1:], "=")
	if f := sameWords(Table(), name); f != nil {
		name = f.name
	}
	if joined {
		name += "=" + value
	}
	return "--" + name
}

// withoutSecondLimit leaves out the -n 0 that goes with a limit of time if a number of
// attempts was given as well: curl --retry 3 --retry-max-time 60 ends at the first of them.
func withoutSecondLimit(flags []string) []string {
	numbered, second := false, -1 // the place of that -n 0
	for i := 0; i+1 < len(flags); i++ {
		switch {
		case flags[i] != "-n":
		case flags[i+1] != "0":
			numbered = true
		case second < 0 && i+2 < len(flags) && flags[i+2] == "--deadline":
			second = i
		}
	}
	if !numbered || second < 0 {
		return flags
	}
	return slices.Delete(flags, second, second+2)
}

// longestLine is up to how many bytes a whole command line is shown.
const longestLine = 300

// pasteable is the command line that was probably meant, for a shell; "" if it is not
// certain, has a secret, or is longer than a person wants to read.
func pasteable(argv []string) string {
	line, ok := translated(argv)
	if !ok || len(line) == 0 || line[len(line)-1] == "--" {
		return ""
	}
	o, err := Read(line, nil)
	if err != nil || o.Settings == nil && len(o.Command) == 0 || !slices.Equal(text.MaskedArgs(line), line) {
		return ""
	}
	if slices.ContainsFunc(o.Settings, func(s Setting) bool { return s.Flag.Tag("only") != "" }) {
		return "" // of a mode that may not be what was meant
	}
	shown := "retry"
	for _, word := range line {
		shown += " " + text.ShellWord(word)
	}
	if len(o.Command) > 0 && IsNumber(o.Command[0]) {
		return "" // the value of a flag that takes none here
	}
	if len(shown) > longestLine || strings.ContainsFunc(shown, func(r rune) bool { return r < ' ' }) {
		return ""
	}
	return shown
}

// calledElsewhere is the error for a flag of another program in a command line, which
// begins as given, nil if the word there is none.
func calledElsewhere(line []string, at int, unknown string) error {
	f, found := foreignAt(line[at:])
	if !found {
		return nil
	}
	said := f.note
	if said == "" {
		var ways []string
		for _, way := range f.ways {
			ways = append(ways, strconv.Quote(strings.Join(way, " ")))
		}
		said = "did you mean " + strings.Join(ways, " or ") + "?"
	}
	return fmt.Errorf("%s, %s%s", unknown, said, toPaste(line))
}

// toPaste is the end of an error that shows the command line that was probably meant, "" if
// it is not certain.
func toPaste(line []string) string {
	if whole := pasteable(line); whole != "" {
		return " write: " + whole
	}
	return ""
}

// InOwnWords are the settings, as name and value, that a name of another program stands
// for, nil if it is not known or what is meant is open.
func InOwnWords(name, value string) (settings [][2]string) {
	f, found := foreignAt([]string{"--" + name + "=" + value})
	if !found || f.open || len(f.ways) != 1 {
		return nil
	}
	o, err := Read(f.ways[0], nil)
	if err != nil {
		return nil
	}
	for _, s := range o.Settings {
		settings = append(settings, [2]string{s.Flag.Name(), s.Value})
	}
	return settings
}

// CalledHere is the flag of this program that a name of another one stands for, "" if it is
// not known. Beside a key or a number of attempts it is the other flag.
func CalledHere(name string) string {
	here := ""
	for _, value := range []string{"1", "1s", "tcp://localhost:1"} { // a name may ask for a value
		f, found := foreignAt([]string{"--" + Spelled(strings.TrimLeft(name, "-")) + "=" + value})
		if !found || f.ways == nil {
			continue
		}
		o, _ := Read(f.ways[0], nil)
		for _, s := range o.Settings {
			if here == "" || here == "key" || here == "attempts" {
				here = s.Flag.name
			}
		}
		return here
	}
	return here
}

// Spelled is a word as flags and sections are written: that of ON_EXIT, and of the variable
// RETRY_ON_EXIT, is on-exit.
func Spelled(word string) string { return normal(strings.TrimPrefix(word, "RETRY_")) }
