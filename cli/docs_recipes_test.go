package cli

// This file holds docs/recipes.md to the program.

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// stubs stand for the commands of the recipes: retry prints its settings in place of
// running its command, and all others do nothing.
const stubs = `
retry() {
	case "$1" in
	--plan) command retry "$@" ;;
	*) command retry --print-policy "$@" ;;
	esac >>"$SETTINGS" || exit 1
}
tar() { :; }
find() { :; }
xargs() { shift 5; "$@"; }
`

// TestRecipes: what the lines of the recipes give to retry is accepted.
func TestRecipes(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("the recipes are for bash")
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	path := programOnPath(t)
	lines := 0
	for _, block := range shellBlock.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			lines++
			settings := filepath.Join(t.TempDir(), "settings")
			cmd := command(t, "bash", "-c", stubs+line)
			cmd.Env = append(os.Environ(), path, "SETTINGS="+settings)
			out, err := cmd.CombinedOutput()
			printed, _ := os.ReadFile(settings)
			if err != nil || len(printed) == 0 {
				t.Errorf("%s%v: %s%s", line, err, out, printed)
			}
		}
	}
	if lines < 30 {
		t.Errorf("only %d lines found", lines)
	}
}
