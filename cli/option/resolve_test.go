package option

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
)

// TestResolve holds testdata/resolved.txt to what command lines mean: below each line what
// differs from the options of "retry true", the lines about settings without effect (idle),
// and the error. A word NAME=value in front is a variable, policy:flag=value a setting of a
// policy.
func TestResolve(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("signals and paths are those of Linux")
	}
	name := filepath.Join("testdata", "resolved.txt")
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for line := range strings.Lines(string(want)) {
		if strings.HasPrefix(line, " ") {
			continue
		}
		got.WriteString(line)
		if before, argv, isCase := strings.Cut(strings.TrimSuffix(line, "\n")+" ", "retry "); isCase && line[0] != '#' {
			for _, difference := range differences(wordsOf(before), wordsOf(argv)) {
				fmt.Fprintf(&got, "    %s\n", difference)
			}
		}
	}
	if bytes.Equal(got.Bytes(), want) {
		return
	}
	if *update {
		if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	is, should := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	at := 0
	for at < min(len(is), len(should)) && is[at] == should[at] {
		at++
	}
	t.Errorf("%s, line %d differs; go test -run TestResolve -update writes it anew. It is\n%s\nwant\n%s", name, at+1,
		strings.Join(is[at:min(len(is), at+5)], "\n"), strings.Join(should[at:min(len(should), at+5)], "\n"))
}

// wordsOf are the words of a line, in which single quotes quote.
func wordsOf(line string) (all []string) {
	for _, word := range regexp.MustCompile(`(?:'[^']*'|[^\s'])+`).FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(word, "'", ""))
	}
	return all
}

// plain are the leaves of the options of "retry true".
var plain = func() map[string]string {
	o, err := resolvedFrom(nil, []string{"true"})
	if err != nil {
		panic(err)
	}
	leaves := map[string]string{}
	leavesOf(reflect.ValueOf(o).Elem(), "", leaves)
	return leaves
}()

// resolvedFrom reads and resolves a command line below which there are settings.
func resolvedFrom(below, argv []string) (*Options, error) {
	var policy []Setting
	var environ []string
	for _, word := range below {
		if setting, isPolicy := strings.CutPrefix(word, "policy:"); isPolicy {
			name, value, _ := strings.Cut(setting, "=")
			policy = append(policy, Setting{Flag: ByName(name), Value: value, Word: "--" + name, Source: FromPolicy})
		} else {
			environ = append(environ, word)
		}
	}
	o, err := Read(argv, Merge(policy, Environment(Table(), environ)))
	if err == nil {
		err = o.Resolve()
	}
	return o, err
}

// differences are the lines that describe the options of a command line: one for the flags
// and one for each part of what they are resolved to. A policy of a simulation is compared
// with the plain one too.
func differences(below, argv []string) (lines []string) {
	o, err := resolvedFrom(below, argv)
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	leaves := map[string]string{}
	leavesOf(reflect.ValueOf(o).Elem(), "", leaves)
	parts := map[string][]string{}
	differs := func(name, value string) {
		part, leaf, has := strings.Cut(name, ".")
		if !has || strings.HasPrefix(name, "Simulation.") {
			at := strings.LastIndexByte(name, '.') + 1
			part, leaf = strings.TrimSuffix(name[:at], "."), name[at:]
		}
		if strings.Contains(value, " ") || value == "" {
			value = strconv.Quote(value)
		}
		parts[part] = append(parts[part], leaf+"="+value)
	}
	for name, value := range leaves {
		was, had := plain[name]
		if rest := inHerd.ReplaceAllString(name, ""); rest != name && !strings.HasPrefix(rest, "Name") {
			was, had = plain[rest]
		}
		isNone := !had && (value == "0" || value == "false" || value == "0s" || value == "")
		if was != value && !isNone {
			differs(name, value)
		}
	}
	for name := range plain {
		if _, has := leaves[name]; !has && !strings.HasPrefix(name, "Command") {
			differs(name, "none")
		}
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		slices.Sort(parts[part])
		lines = append(lines, strings.TrimPrefix(part+": ", ": ")+strings.Join(parts[part], " "))
	}
	for _, idle := range o.Idle {
		lines = append(lines, "idle: "+idle)
	}
	return lines
}

// inHerd begins a leaf of a policy of a simulation.
var inHerd = regexp.MustCompile(`^Simulation\.Herds\[\d+\]\.`)

// exits are how a list of exits prints.
var exits = regexp.MustCompile(`\{text:(\S+) [^}]*\}`)

// leavesOf names what a value is made of. A curve is its first waits of a second.
func leavesOf(v reflect.Value, name string, leaves map[string]string) {
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // unexported fields too
	switch known := v.Interface().(type) {
	case []Setting, *Chosen: // TestRead
		return
	case backoff.Curve:
		if known != nil {
			leaves[name] = fmt.Sprint(known(time.Second, 1), known(time.Second, 2), known(time.Second, 3),
				known(time.Second, 4))
		}
		return
	case moment:
		leaves[name] = known.UTC().Format(time.RFC3339Nano)
		return
	case classify.Exits:
		if known != nil {
			leaves[name] = exits.ReplaceAllString(fmt.Sprintf("%+v", known), "$1")
		}
		return
	case fmt.Stringer:
		if v.Kind() != reflect.Pointer || !v.IsNil() {
			leaves[name] = known.String()
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			leavesOf(v.Elem(), name, leaves)
		}
	case reflect.Slice:
		for i := range v.Len() {
			leavesOf(v.Index(i), fmt.Sprintf("%s[%d]", name, i), leaves)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			inner := strings.TrimPrefix(name+"."+field.Name, ".")
			if field.Anonymous {
				inner = name
			}
			if inner != "Idle" && inner != "Own" {
				leavesOf(v.Field(i), inner, leaves)
			}
		}
	case reflect.Func:
	default:
		leaves[name] = fmt.Sprint(v)
	}
}
