package cli

// This file checks which package may import which, with a reason for each ban.

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/retrysh/retry"

// allowed says what each package may import of ours, by path under the module:
// a package and a colon, then what it may import.
var allowed = func() map[string][]string {
	table := map[string][]string{}
	path := ""
	for word := range strings.FieldsSeq(`
main: cli
exitcodes:
cli: cli/human cli/input cli/letters cli/manual cli/mode cli/option cli/policy cli/report cli/show cli/status engine
  engine/attempt engine/waitfor engine/backoff engine/classify engine/classify/command engine/event engine/admission
  engine/history engine/probe engine/proc engine/proc/stdio engine/queue engine/registry engine/rehearse engine/sink
  engine/store engine/telemetry engine/message exitcodes engine/text
cli/human: engine/event engine/message engine/text
cli/input: engine/text
cli/letters: cli/mode cli/option engine/lockedfile engine/queue engine/message exitcodes engine/text engine/xdg
cli/manual: engine/text
cli/mode: cli/option engine/message exitcodes engine/text
cli/option: cli/manual engine engine/attempt engine/backoff engine/classify engine/guard engine/linematch
  engine/probe engine/proc engine/proc/stdio engine/rehearse engine/rotate engine/simulate engine/store
  engine/telemetry engine/message exitcodes engine/text
cli/policy: cli/input cli/option engine/blockfile engine/classify engine/classify/command engine/lockedfile
  engine/text engine/xdg
cli/report: cli/input cli/mode cli/option engine/event engine/history engine/message engine/text engine/xdg
  exitcodes
cli/show: cli/input cli/option engine engine/attempt engine/backoff engine/classify engine/event engine/plan
  engine/simulate engine/message engine/text
cli/status: cli/mode cli/option engine/event engine/guard engine/message engine/registry engine/store exitcodes
  engine/text
engine: engine/admission engine/attempt engine/backoff engine/classify engine/classify/command engine/event
  engine/guard engine/retryafter engine/linematch engine/rotate engine/statistics engine/message exitcodes
  engine/text
engine/attempt:
engine/waitfor: engine engine/attempt engine/classify engine/event
engine/backoff: engine/text
engine/blockfile:
engine/classify: engine/attempt engine/blockfile engine/classify/command engine/event engine/retryafter
  engine/linematch exitcodes engine/text
engine/classify/command:
engine/event: engine/attempt
engine/admission: engine/event engine/guard
engine/guard: engine/backoff engine/text
engine/history: engine/event engine/lockedfile engine/statistics engine/text engine/xdg
engine/retryafter: engine/linematch engine/text
engine/linematch:
engine/lockedfile: engine/text
engine/xdg:
engine/operation: engine engine/attempt engine/backoff engine/classify engine/event exitcodes
engine/plan: engine engine/backoff engine/text
engine/probe: engine/attempt engine/text engine/address engine/linematch exitcodes
engine/proc: engine/attempt engine/proc/process engine/proc/signals engine/proc/stdio exitcodes
engine/proc/signals: engine/attempt exitcodes
engine/proc/process: engine/proc/signals engine/proc/stdio exitcodes
engine/proc/stdio: engine/attempt
engine/simulate: engine engine/attempt engine/backoff engine/event engine/admission engine/guard engine/text
engine/rehearse: engine engine/attempt engine/backoff exitcodes
engine/queue: engine/lockedfile engine/rotate engine/text
engine/registry: engine/attempt engine/event engine/lockedfile engine/text engine/xdg
engine/rotate:
engine/statistics:
engine/sink: engine/attempt engine/event engine/message engine/text
engine/telemetry: engine/attempt engine/event engine/lockedfile engine/text
engine/store: engine/guard engine/lockedfile engine/text engine/address engine/xdg
engine/message: engine/event engine/text
engine/text:
engine/address: engine/text
testdata/benchmark:
testdata/flakyserver:
`) {
		if name, ok := strings.CutSuffix(word, ":"); ok {
			path = strings.TrimPrefix(name, "main")
			table[path] = nil
		} else {
			table[path] = append(table[path], word)
		}
	}
	return table
}()

// ban is an import that only some packages may have.
type ban struct {
	imports string
	but     []string // these
	reason  string
}

// system are the packages that may touch the system.
var system = []string{"", "cli", "cli/human", "cli/input", "cli/letters", "cli/mode", "cli/policy", "cli/report",
	"cli/show", "cli/status", "engine/history", "engine/lockedfile", "engine/probe", "engine/proc",
	"engine/proc/process", "engine/proc/signals", "engine/proc/stdio", "engine/queue", "engine/registry",
	"engine/store", "engine/telemetry", "engine/xdg", "testdata/benchmark", "testdata/flakyserver"}

var bans = []ban{
	{"os", system, "a pure package is tested by tables and fuzzing in microseconds; only some packages touch the system"},
	{"net", []string{"engine/probe", "engine/store", "engine/telemetry"},
		"only probes, stores and telemetry use the network"},
	{"os/signal", []string{"engine/proc/signals", "engine/proc/process", "testdata/benchmark"},
		"signals have one owner, or one of two loses them"},
	{"os/exec", []string{"testdata/benchmark", "testdata/flakyserver"},
		"its second clone costs every start, and its Wait hangs on an orphan that holds a pipe"},
	{"net/http", []string{"engine/probe", "engine/telemetry", "testdata/flakyserver"}, "only HTTP clients need it"},
	{"log", nil, "output goes through events"},
	{"log/slog", nil, "output goes through events"},
	{"math/rand", nil, "math/rand/v2 draws as well and starts faster"},
	{"math/rand/v2", []string{"cli", "cli/show", "engine/operation", "testdata/benchmark"},
		"random numbers are arguments everywhere else"},
	{"github.com/alecthomas/kong", []string{"cli", "cli/manual", "cli/option"}, "only the user interface knows flags"},
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := command(t, "go", "list", "-json=ImportPath,Imports", "./...", "./testdata/flakyserver")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestPureAndSystemPackageImports(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		may, known := allowed[name]
		if !known {
			t.Errorf("package %q is not in the table; say what it may import", name)
			continue
		}
		for _, path := range p.Imports {
			if ours, is := strings.CutPrefix(path, module+"/"); is && !slices.Contains(may, ours) {
				t.Errorf("package %q imports %q, which the table does not allow", name, ours)
			}
			for _, b := range bans {
				if path == b.imports && !slices.Contains(b.but, name) {
					t.Errorf("package %q imports %s: %s", name, path, b.reason)
				}
			}
		}
	}
}

// edges touch the system. Of the user interface only cli.go, the files that build a
// run, option/values.go and the mode that looks into a store import them, so that options
// are tested without processes, sockets and files.
var edges = []string{"engine/probe", "engine/proc", "engine/sink", "engine/store"}

func TestOnlyWireFilesImportTheEdges(t *testing.T) {
	wires := 0
	for _, file := range outsideFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, edge := range edges {
			mayKnow := strings.HasPrefix(file, "wire") || file == "cli.go" ||
				file == filepath.Join("option", "values.go") || filepath.Dir(file) == "status" && edge == "engine/store"
			switch known := strings.Contains(string(text), `"`+module+"/"+edge+`"`); {
			case known && mayKnow:
				wires++
			case known:
				t.Errorf("%s imports %s, which only wire files may", file, edge)
			}
		}
	}
	if wires == 0 {
		t.Error("no wire file imports any of them: does the test read the right folder?")
	}
}

// outsideFiles are the files of this folder and of those below it, tests apart.
func outsideFiles(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.go", filepath.Join("*", "*.go")} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		all = append(all, files...)
	}
	return slices.DeleteFunc(all, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
}

// mostFiles is the greatest number of files in a folder, tests apart.
const mostFiles = 24

func TestFoldersAreSmall(t *testing.T) {
	count := map[string]int{}
	for _, file := range outsideFiles(t) {
		count[filepath.Dir(file)]++
	}
	for folder, n := range count {
		if n > mostFiles {
			t.Errorf("%s has %d files, at most %d are allowed", folder, n, mostFiles)
		}
	}
}

// pure packages never read the clock: time is an argument.
var pure = []string{"engine/attempt", "engine/backoff", "engine/blockfile", "engine/classify",
	"engine/classify/command", "engine/event", "engine/guard", "engine/retryafter", "engine/statistics",
	"engine/linematch", "engine/plan", "engine/rotate", "engine/simulate", "engine/message", "engine/address",
	"engine/text"}

func TestPurePackagesNeverReadTheClock(t *testing.T) {
	clock := regexp.MustCompile(`\btime\.(Now|Sleep|After|AfterFunc|NewTimer|NewTicker|Tick|Since|Until)\(`)
	for _, name := range pure {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(name), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", name, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if call := clock.Find(text); call != nil && !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s calls %s)", file, call)
			}
		}
	}
}
