// Command mutate measures which faults the tests of a package notice.
//
//	go run ./testdata/mutate [-with PACKAGE] [-scripts REGEX] [-at REGEX] [-part K/N] [-least P] [-list] PACKAGE...
//
// It makes mutants of a package: one operator, condition, number or statement is
// changed in each. All of them are compiled into one test binary, in which a file
// says which one is real, so that a mutant costs no build. First each test runs alone
// without a mutant: what it reaches and how long it takes. Then, for each mutant, those
// tests run that reach it, the short ones first; it is killed if one fails, or takes too
// long. With -with the survivors are run against the tests of another package too, and
// with -scripts against the scripts of that name, through the tests of ./cli. What survives
// is printed as FILE:LINE:COLUMN and the change, and whether a test reaches it; what is
// listed in equivalent.txt, with the reason why no test can notice it, is not counted. -at
// takes only the mutants whose FILE:LINE:COLUMN matches, -part every Nth. With -least it is
// an error if less than P % are killed.
//
// Tests run in a pid namespace of their own if that is permitted. Those of engine/proc,
// whose mutants may signal any process, do not run otherwise.
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
	with := flag.String("with", "", "run survivors against the tests of this package")
	scripts := flag.String("scripts", "", "run survivors against the scripts whose names match this")
	at := flag.String("at", "", "run only mutants whose FILE:LINE:COLUMN matches this")
	part := flag.String("part", "1/1", "run only every Nth mutant, from the Kth on")
	least := flag.Float64("least", 0, "fail if less than so many % are killed")
	list := flag.Bool("list", false, "list the mutants and run nothing")
	flag.Parse()
	choose, err := chosen(*at, *part)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	failed := false
	for _, path := range flag.Args() {
		if err := measure(path, *with, *scripts, choose, *least, *list); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// chosen tells the mutants that are run from the others.
func chosen(at, part string) (func(*mutant) bool, error) {
	place, err := regexp.Compile(at)
	if err != nil {
		return nil, fmt.Errorf("-at: %w", err)
	}
	var first, of int
	if _, err := fmt.Sscanf(part, "%d/%d", &first, &of); err != nil || first < 1 || of < first {
		return nil, fmt.Errorf("-part: %q is not K/N", part)
	}
	return func(one *mutant) bool { return place.MatchString(one.place) && one.id%of == first%of }, nil
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
	passed bool // by a test that was run
}

// measure prints what survives of a package, and the share that is killed.
func measure(path, with, scripts string, choose func(*mutant) bool, least float64, list bool) error {
	if err := isolate(path); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	m := &mutation{work: work}
	if err := m.build(path); err != nil {
		return err
	}
	var all []*mutant
	for _, one := range m.mutants {
		if choose(one) {
			all = append(all, one)
		}
	}
	if list {
		for _, one := range all {
			fmt.Println(one.place, one.change)
		}
		return nil
	}
	short := []string{"-test.short", "-test.failfast"}
	units := &tests{mutation: m, binary: filepath.Join(work, "units"), dir: m.dir, args: short}
	left, err := units.survivors(all)
	if err != nil {
		return err
	}
	killed := len(all) - len(left)
	fmt.Printf("%s: %d mutants, killed by its tests %d (%.0f %%)\n", path, len(all), killed, percent(killed, len(all)))
	if with != "" {
		others := &tests{mutation: m, binary: filepath.Join(work, "others"), dir: with, args: short}
		if err := m.compile(with, others.binary); err != nil {
			return err
		}
		if left, err = others.survivors(left); err != nil {
			return err
		}
		killed = len(all) - len(left)
		fmt.Printf("%s: killed with those of %s %d (%.0f %%)\n", path, with, killed, percent(killed, len(all)))
	}
	if scripts != "" {
		outside := &tests{mutation: m, binary: filepath.Join(work, "cli"), dir: "cli",
			args: []string{"-test.failfast"}, scripts: scripts}
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
		what := "survives:"
		if !one.passed {
			what = "is not reached:"
		}
		fmt.Println(what, one.place, one.change)
	}
	killed = len(all) - len(left)
	share := percent(killed, len(all)-equivalent)
	fmt.Printf("%s: %d of %d mutants killed (%.1f %%), and %d are equivalent\n", path, killed, len(all)-equivalent,
		share, equivalent)
	if share < least {
		return fmt.Errorf("%s: less than %v %% are killed", path, least)
	}
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
	scripts     string // names of scripts that are run, "" for all tests
}

// test is one of them, or one script.
type test struct {
	name    string
	takes   time.Duration
	reached map[int]bool // mutants that it passes
}

// survivors returns those of some mutants that the tests do not notice.
func (t *tests) survivors(among []*mutant) (left []*mutant, err error) {
	all, err := t.all()
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		begun := time.Now()
		if out, err := t.run(0, []*test{one}, 10*time.Minute); err != nil {
			return nil, fmt.Errorf("%s fails without a mutant: %w\n%s", one.name, err, out)
		}
		one.takes = time.Since(begun)
		if one.reached, err = t.reached(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b *test) int { return int(a.takes - b.takes) })
	for _, one := range among {
		if !t.kill(one, all) {
			left = append(left, one)
		}
	}
	return left, nil
}

// soon is how long the tests of the first run for a mutant take together.
const soon = time.Second

// kill runs the tests that reach a mutant, in two runs, and reports whether one fails.
func (t *tests) kill(one *mutant, all []*test) bool {
	var runs [2][]*test
	var takes [2]time.Duration
	for _, test := range all {
		if !test.reached[one.id] {
			continue
		}
		one.passed = true
		i := 0
		if len(runs[1]) > 0 || len(runs[0]) > 0 && takes[0]+test.takes > soon {
			i = 1
		}
		runs[i], takes[i] = append(runs[i], test), takes[i]+test.takes
	}
	for i, some := range runs {
		if len(some) == 0 {
			continue
		}
		if _, err := t.run(one.id, some, 5*takes[i]+5*time.Second); err != nil {
			return true
		}
	}
	return false
}

// all lists the tests of the binary, or the scripts of that name.
func (t *tests) all() (all []*test, err error) {
	if t.scripts != "" {
		files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
		if err != nil {
			return nil, err
		}
		named, err := regexp.Compile(t.scripts)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if name := strings.TrimSuffix(filepath.Base(file), ".txtar"); named.MatchString(name) {
				all = append(all, &test{name: name})
			}
		}
		return all, nil
	}
	cmd := exec.Command(t.binary, "-test.list=^(Test|Fuzz|Example)")
	cmd.Dir = t.dir
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	for name := range strings.FieldsSeq(string(out)) {
		all = append(all, &test{name: name})
	}
	return all, nil
}

// run runs some of the tests with one mutant, 0 for none.
func (t *tests) run(id int, some []*test, limit time.Duration) ([]byte, error) {
	if err := os.WriteFile(t.switchFile(), []byte(strconv.Itoa(id)), 0o600); err != nil {
		return nil, err
	}
	var names []string
	for _, test := range some {
		names = append(names, test.name)
	}
	pattern := "^(" + strings.Join(names, "|") + ")$"
	if t.scripts != "" {
		pattern = "^TestScripts$/" + pattern
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, isolation[0],
		slices.Concat(isolation[1:], []string{t.binary}, t.args, []string{"-test.run=" + pattern})...)
	cmd.Dir, cmd.WaitDelay = t.dir, 10*time.Second
	return cmd.CombinedOutput()
}

// isolation begins the command line of tests: in a pid namespace of their own (unshare(1)) a
// mutant that signals the wrong processes ends none of the machine's. The shell is the first
// process there, since the tests are not to be.
var isolation = []string{
	"unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", `"$@"; exit $?`, "sh",
}

// isolate returns an error if tests that signal processes cannot be isolated. Others need
// not be.
func isolate(path string) error {
	err := exec.Command(isolation[0], append(isolation[1:], "true")...).Run()
	if err == nil {
		return nil
	}
	if strings.Contains(path, "engine/proc") {
		return fmt.Errorf("%s: a mutant may signal any process; run it as root where there is unshare(1): %w",
			path, err)
	}
	isolation = []string{"env"}
	return nil
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
	out, err := exec.Command("go", "test", "-vet=off", "-overlay="+filepath.Join(m.work, "overlay.json"),
		"-gcflags="+m.path+"=-e", "-c", "-o", binary, path).CombinedOutput()
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
		e := &editor{checked: checked, file: file, text: text, place: filepath.ToSlash(at), without: without,
			next: len(m.mutants)}
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
