package cli

// This file holds the README to what the program does: its flag table is the
// help, and each console example is run.

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadmeHasTheHelp(t *testing.T) {
	var help bytes.Buffer
	if err := printHelp(&help); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(readme(t), "```text\n"+help.String()+"```") {
		t.Errorf("README.md does not hold the output of retry --help; it should have\n%s", help.String())
	}
}

func TestHelpFitsEightyColumns(t *testing.T) {
	var help bytes.Buffer
	if err := printHelp(&help); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(help.String()) {
		if len(strings.TrimSuffix(line, "\n")) > helpWidth {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	for _, f := range flagTable() {
		if !strings.Contains(help.String(), "--"+f.name) {
			t.Errorf("--%s is missing", f.name)
		}
	}
}

var (
	consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")
	elapsed      = regexp.MustCompile(`\b(after|in) [0-9.]+(µs|ms|s)\b`)
	ruleLine     = regexp.MustCompile(`(\.rules):[0-9]+\b`)
)

// settle takes out what differs between runs and between versions: times, and
// where a built-in rule stands.
func settle(output string) string {
	return ruleLine.ReplaceAllString(elapsed.ReplaceAllString(output, "$1 TIME"), "$1:LINE")
}

// TestReadmeRulesAreRun holds the rule file of the README to the one that a
// script runs.
func TestReadmeRulesAreRun(t *testing.T) {
	script, err := txtar.ParseFile(filepath.Join("..", "testdata", "script", "explain_rules_file.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range script.Files {
		if f.Name == "deploy.rules" && !strings.Contains(readme(t), "```text\n"+string(f.Data)+"```") {
			t.Errorf("README.md does not hold this rule file:\n%s", f.Data)
		}
	}
}

// TestReadmeExamples runs every command of a console block, in the project's
// root, and compares what both streams show, times apart. Standard error comes
// first, since the streams are not one terminal's.
func TestReadmeExamples(t *testing.T) {
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "retry")); err != nil {
		t.Skip(err)
	}
	blocks := consoleBlock.FindAllStringSubmatch(readme(t), -1)
	if len(blocks) == 0 {
		t.Fatal("no examples found")
	}
	for _, block := range blocks {
		for _, example := range strings.Split(block[1], "$ ")[1:] {
			command, want, _ := strings.Cut(example, "\n")
			t.Run(command, func(t *testing.T) {
				if strings.Contains(command, "curl") {
					if _, err := exec.LookPath("curl"); err != nil {
						t.Skip(err)
					}
				}
				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = ".."
				cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")
				output, _ := cmd.CombinedOutput()
				if got, want := settle(string(output)), settle(want); got != want {
					t.Errorf("it prints\n%swant\n%s", got, want)
				}
			})
		}
	}
}
