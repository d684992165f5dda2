package operation

// This file checks the imports: functions need no processes, and the program needs no
// registry of functions.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/retrysh/retry"

// linked returns all packages of ours that a package needs.
func linked(t *testing.T, path string) (ours []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", path).Output()
	if err != nil {
		t.Skip(err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(name, module) {
			ours = append(ours, name)
		}
	}
	if len(ours) < 2 {
		t.Fatalf("go list names %v", ours)
	}
	return ours
}

func TestNoSystemPackageIsLinked(t *testing.T) {
	for _, name := range linked(t, module+"/engine/operation") {
		path := strings.TrimPrefix(name, module+"/")
		for _, edge := range []string{"cli", "engine/proc", "engine/probe", "engine/sink", "engine/store"} {
			if path == edge || strings.HasPrefix(path, edge+"/") {
				t.Errorf("%s is linked", name)
			}
		}
	}
}

func TestTheProgramDoesNotLinkIt(t *testing.T) {
	for _, name := range linked(t, module) {
		if strings.HasSuffix(name, "/engine/operation") {
			t.Errorf("the program links %s", name)
		}
	}
}

// TestPageHoldsTheExample holds docs/library.md to the example that is run.
func TestPageHoldsTheExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "library.md"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(page), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	if code = "\t" + strings.ReplaceAll(strings.TrimSpace(code), "\n", "\n\t"); !found ||
		!strings.Contains(string(file), code) {
		t.Errorf("docs/library.md holds another example:\n%s", code)
	}
}
