// Command mutate measures which faults the tests of a package notice.
//
//	go run ./testdata/mutate [-scripts REGEX] [-at REGEX] [-list] PACKAGE...
//
// It makes mutants of a package: one operator, condition, number or statement is
// changed in each. All of them are compiled into one test binary, in which a file
// says which one is real, so that a mutant costs no build. First the tests run without
// a mutant, and those that they never reach are left out: they survive. Then the tests
// run once for each other mutant; it is killed if they fail, or take too long. With
// -scripts the survivors are run against the scripts of that name, through the tests
// of ./cli. What survives is printed as FILE:LINE:COLUMN and the change; a survivor
// that is listed in equivalent.txt, with the reason why no test can notice it, is not
// counted. With -at only the mutants are run whose FILE:LINE:COLUMN matches.
//
// It is run by hand and by the nightly workflow: it takes minutes a package. A mutant of
// a number that is a base or a size for strconv, or that is returned beside an error, is
// not made: no test should notice it.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	scripts := flag.String("scripts", "", "run survivors against the scripts whose names match this")
	at := flag.String("at", "", "run only mutants whose FILE:LINE:COLUMN matches this")
	list := flag.Bool("list", false, "list the mutants and run nothing")
	flag.Parse()
	chosen, err := regexp.Compile(*at)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate: -at:", err)
		os.Exit(2)
	}
	for _, path := range flag.Args() {
		if err := measure(path, *scripts, chosen, *list); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(1)
		}
	}
}

// mutation is a package with its mutants, and the binaries that hold them.
type mutation struct {
	dir     string // of the package
	path    string // its import path
	work    string // where what is built lies
	mutants []*mutant
}

// mutant is one change.
type mutant struct {
	id     int
	place  string // FILE:LINE:COLUMN, the file's path from the module's root
	file   string // of place
	source string // its line, without what it is indented by
	change string
}

// measure prints what survives of a package, and the share that is killed.
func measure(path, scripts string, chosen *regexp.Regexp, list bool) error {
	work, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	m := &mutation{work: work}
	if err := m.build(path); err != nil {
		return err
	}
	m.mutants = slices.DeleteFunc(m.mutants, func(one *mutant) bool { return !chosen.MatchString(one.place) })
	if list {
		for _, one := range m.mutants {
			fmt.Println(one.place, one.change)
		}
		return nil
	}
	units := &tests{mutation: m, binary: filepath.Join(work, "units"), dir: m.dir, args: []string{"-test.short", "-test.failfast"}}
	left, err := units.survivors(m.mutants)
	if err != nil {
		return err
	}
	killed := len(m.mutants) - len(left)
	fmt.Printf("%s: %d mutants, killed by its tests %d (%.0f %%)\n", path, len(m.mutants), killed, percent(killed, len(m.mutants)))
	if scripts != "" {
		outside := &tests{mutation: m, binary: filepath.Join(work, "cli"), dir: "cli", args: []string{"-test.failfast", "-test.run=^TestScripts$/" + scripts}}
		if err := m.compile("./cli", outside.binary); err != nil {
			return err
		}
		if left, err = outside.survivors(left); err != nil {
			return err
		}
	}
	equivalent := 0
	for _, one := range left {
		if reason := equivalents[[3]string{one.file, one.source, one.change}]; reason != "" {
			equivalent++
			continue
		}
		fmt.Println("survives:", one.place, one.change)
	}
	all := len(m.mutants) - equivalent
	killed = len(m.mutants) - len(left)
	fmt.Printf("%s: %d of %d mutants killed (%.1f %%), and %d are equivalent\n", path, killed, all, percent(killed, all), equivalent)
	return nil
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(1, all)) }

//go:embed equivalent.txt
var equivalentText string

// equivalents are the reasons by file, line of source and change: lines of
// equivalent.txt, which have these and the reason, apart by tabs.
var equivalents = func() map[[3]string]string {
	reasons := map[[3]string]string{}
	for line := range strings.Lines(equivalentText) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 4 {
			reasons[[3]string(fields)] = fields[3]
		}
	}
	return reasons
}()

// tests are a test binary and how it is run.
type tests struct {
	*mutation
	binary, dir string
	args        []string
}

// survivors returns those of some mutants that the tests do not notice.
func (t *tests) survivors(among []*mutant) ([]*mutant, error) {
	begun := time.Now()
	if out, err := t.run(0, 10*time.Minute); err != nil {
		return nil, fmt.Errorf("the tests fail without a mutant: %w\n%s", err, out)
	}
	limit := 10*time.Since(begun) + 10*time.Second
	reached, err := t.reached()
	if err != nil {
		return nil, err
	}
	var left []*mutant
	for _, one := range among {
		if reached[one.id] {
			if _, err := t.run(one.id, limit); err != nil {
				continue
			}
		}
		left = append(left, one)
	}
	return left, nil
}

// run runs the tests with one mutant, 0 for none.
func (t *tests) run(id int, limit time.Duration) ([]byte, error) {
	if err := os.WriteFile(t.switchFile(), []byte(strconv.Itoa(id)), 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.binary, t.args...)
	cmd.Dir, cmd.WaitDelay = t.dir, 10*time.Second
	return cmd.CombinedOutput()
}

// reached are the mutants that were passed in the run without one.
func (t *tests) reached() (map[int]bool, error) {
	file, err := os.Open(t.reachedFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	defer os.Remove(t.reachedFile())
	reached := map[int]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if id, err := strconv.Atoi(lines.Text()); err == nil {
			reached[id] = true
		}
	}
	return reached, nil
}

func (m *mutation) switchFile() string  { return filepath.Join(m.work, "switch") }
func (m *mutation) reachedFile() string { return filepath.Join(m.work, "reached") }

// compilerError names a line of a mutated file.
var compilerError = regexp.MustCompile(`(?m)^(\S+\.go:\d+):(?:\d+:)? `)

// build makes the mutants of a package and compiles them. Those on a line that the
// compiler does not take are left out.
func (m *mutation) build(path string) error {
	found, err := list(path)
	if err != nil {
		return err
	}
	m.dir, m.path = found.Dir, found.ImportPath
	without := map[string]bool{}
	for {
		if err := m.write(found, without); err != nil {
			return err
		}
		err := m.compile(path, filepath.Join(m.work, "units"))
		if err == nil {
			return nil
		}
		lines := compilerError.FindAllStringSubmatch(err.Error(), -1)
		known := len(without)
		for _, line := range lines {
			without[filepath.Base(line[1])] = true
		}
		if len(without) == known {
			return fmt.Errorf("the mutants do not compile: %w", err)
		}
	}
}

// compile builds the tests of a package with the mutants in place of their package.
func (m *mutation) compile(path, binary string) error {
	out, err := exec.Command("go", "test", "-vet=off", "-overlay="+filepath.Join(m.work, "overlay.json"), "-gcflags="+m.path+"=-e", "-c", "-o", binary, path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// goPackage is what go list says of a package.
type goPackage struct {
	Dir, ImportPath, Name string
	GoFiles               []string
	Module                struct{ Dir string }
}

func list(path string) (*goPackage, error) {
	out, err := exec.Command("go", "list", "-json", path).Output()
	if err != nil {
		return nil, err
	}
	found := new(goPackage)
	return found, json.Unmarshal(out, found)
}

// write writes the mutated files and the overlay that puts them in place.
func (m *mutation) write(found *goPackage, without map[string]bool) error {
	m.mutants = nil
	overlay := map[string]map[string]string{"Replace": {}}
	checked, err := check(found)
	if err != nil {
		return err
	}
	for i, file := range checked.files {
		name := found.GoFiles[i]
		text, err := os.ReadFile(filepath.Join(found.Dir, name))
		if err != nil {
			return err
		}
		at, err := filepath.Rel(found.Module.Dir, filepath.Join(found.Dir, name))
		if err != nil {
			return err
		}
		e := &editor{checked: checked, file: file, text: text, place: filepath.ToSlash(at), without: without, next: len(m.mutants)}
		e.walk()
		m.mutants = slices.Concat(m.mutants, e.mutants)
		target := filepath.Join(m.work, name)
		if err := os.WriteFile(target, e.apply(), 0o600); err != nil {
			return err
		}
		overlay["Replace"][filepath.Join(found.Dir, name)] = target
	}
	target := filepath.Join(m.work, "mutant_switch.go")
	source := fmt.Sprintf(switchSource, found.Name, m.switchFile(), m.reachedFile(), len(m.mutants)+1)
	if err := os.WriteFile(target, []byte(source), 0o600); err != nil {
		return err
	}
	overlay["Replace"][filepath.Join(found.Dir, "mutant_switch.go")] = target
	text, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.work, "overlay.json"), text, 0o600)
}
