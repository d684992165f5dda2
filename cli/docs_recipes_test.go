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

var codeBlocks = regexp.MustCompile("(?s)```.*?```")

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

// settingsOf are what the runs of retry in a shell line would use. No command is run.
func settingsOf(t *testing.T, line, path string) (settings []byte, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "settings")
	cmd := command(t, "bash", "-c", stubs+line)
	cmd.Env = append(os.Environ(), path, "SETTINGS="+file, "TOKEN=x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return out, err
	}
	return os.ReadFile(file)
}

// TestRecipes: what the lines of the recipes give to retry is accepted.
func TestRecipes(t *testing.T) {
	t.Parallel()
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
			if printed, err := settingsOf(t, line, path); err != nil || len(printed) == 0 {
				t.Errorf("%s%v: %s", line, err, printed)
			}
		}
	}
	if lines < 30 {
		t.Errorf("only %d lines found", lines)
	}
}

var (
	indentedCode = regexp.MustCompile(`(?m)^    (.*)$`)
	codeSpan     = regexp.MustCompile("`([^`\n]+)`")
	// aRun is a whole line without redirection that begins with a run. One with an
	// ellipsis, or with a policy or target of the reader's own, is not tried.
	aRun = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*retry -[^<>]*[^|]$`)
	own  = regexp.MustCompile(`\.\.\.|\$DATABASE_URL|--policy (net|deploy) `)
)

// TestRunsOfThePages: the program takes the flags of each run that the README and the
// pages show, in a block or in a sentence.
func TestRunsOfThePages(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("the lines are for bash")
	}
	var ownWords []string
	for _, m := range ownModes {
		ownWords = append(ownWords, m.word[2:])
	}
	mode := regexp.MustCompile(` (--(` + strings.Join(ownWords, "|") +
		`|help|man|completion|version|plan|explain|simulate|print-policy)|-h|-V)\b`)
	path := programOnPath(t)
	lines := 0
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var candidates []string
		for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
			candidates = append(candidates, strings.Split(strings.ReplaceAll(block[1], "\\\n", ""), "\n")...)
		}
		prose := codeBlocks.ReplaceAllString(string(text), "")
		for _, code := range append(indentedCode.FindAllStringSubmatch(prose, -1),
			codeSpan.FindAllStringSubmatch(prose, -1)...) {
			candidates = append(candidates, strings.ReplaceAll(code[1], `\|`, "|"))
		}
		for _, line := range candidates {
			flags, _, _ := strings.Cut(line, " -- ")
			if !aRun.MatchString(line) || own.MatchString(line) || mode.MatchString(flags) ||
				strings.Contains(line, "&& ") {
				continue
			}
			lines++
			if printed, err := settingsOf(t, line, path); err != nil || len(printed) == 0 {
				t.Errorf("%s: %s: %v: %s", filepath.Base(page), line, err, printed)
			}
		}
	}
	if lines < 100 {
		t.Errorf("only %d lines found", lines)
	}
}
