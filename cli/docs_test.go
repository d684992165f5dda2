package cli

// This file holds the documentation to what the program does: the page of flags
// is the help, and each console example of the README and of docs/ is run.

import (
	"bytes"
	flags "flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/cli/option"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// update writes docs/flags.md anew: go test ./cli -run TestFlagsPage -update
var update = flags.Bool("update", false, "write the pages that are made from the flags")

var helpBlock = regexp.MustCompile("(?s)```text\nUsage: .*?```\n")

// TestFlagsPage holds docs/flags.md to the flags.
func TestFlagsPage(t *testing.T) {
	var help bytes.Buffer
	if err := printPage(&help, new(option.Options)); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join("..", "docs", "flags.md")
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := helpBlock.ReplaceAllLiteralString(string(old), "```text\n"+help.String()+"```\n")
	if want == string(old) {
		return
	}
	if !*update {
		t.Fatal("docs/flags.md does not hold the output of retry --help; run: go test ./cli -run TestFlagsPage -update")
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFlagsPageHoldsOneHelp: without a block there would be nothing to compare.
func TestFlagsPageHoldsOneHelp(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "flags.md"))
	if err != nil || len(helpBlock.FindAll(page, -1)) != 1 {
		t.Errorf("docs/flags.md holds %d blocks of help, %v", len(helpBlock.FindAll(page, -1)), err)
	}
}

func TestHelpFitsEightyColumns(t *testing.T) {
	var help bytes.Buffer
	if err := printPage(&help, new(option.Options)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(help.String()) {
		if len(strings.TrimSuffix(line, "\n")) > manual.Width {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	table := option.Table()
	for i := range table {
		if !strings.Contains(help.String(), "--"+table[i].Name()) {
			t.Errorf("--%s is missing", table[i].Name())
		}
	}
}

// TestHelpFitsTheTerminal: on a narrower terminal the help has the same words, and a line
// is wider only if it is one word, or a command of the examples.
func TestHelpFitsTheTerminal(t *testing.T) {
	p, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]func(columns int) string{"--help": p.Help, "-h": p.Brief}
	for _, word := range []string{"guards", "on-exit", "redrive", "since"} {
		shown["--help "+word] = func(columns int) string { return p.Topic(word, columns) }
	}
	for name, help := range shown {
		full := help(0)
		if help(200) != full {
			t.Errorf("%s differs on a wide terminal", name)
		}
		for columns := 20; columns < manual.Width; columns++ {
			narrow := help(columns)
			if !slices.Equal(strings.Fields(narrow), strings.Fields(full)) {
				t.Fatalf("%s has other words in %d columns:\n%s", name, columns, narrow)
			}
			for line := range strings.Lines(narrow) {
				line = strings.TrimRight(line, "\n")
				if len(line) > columns && strings.Contains(strings.TrimSpace(line), " ") &&
					!strings.Contains(full, line) {
					t.Errorf("%s in %d columns: %s", name, columns, line)
				}
			}
		}
	}
}

var (
	consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")
	elapsed      = regexp.MustCompile(`\b(after|in|median|longest) [0-9.]+(µs|ms|s)\b`)
)

// settle takes out what differs between runs: times.
func settle(output string) string { return elapsed.ReplaceAllString(output, "$1 TIME") }

// TestRulesOfTheDocumentationAreRun holds the rule file of docs/rules.md to the
// one that a script runs.
func TestRulesOfTheDocumentationAreRun(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := txtar.ParseFile(filepath.Join("..", "testdata", "script", "explain_rules_file.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range script.Files {
		if f.Name == "deploy.rules" && !strings.Contains(string(page), "```text\n"+string(f.Data)+"```") {
			t.Errorf("docs/rules.md does not hold this rule file:\n%s", f.Data)
		}
	}
}

// documents are the README and the pages of docs/.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return append(pages, filepath.Join("..", "README.md"))
}

// programOnPath is a PATH, NAME=VALUE, that begins with a folder in which retry is
// this program.
func programOnPath(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "retry")); err != nil {
		t.Skip(err)
	}
	return "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
}

// TestExamples runs every command of a console block, in the project's root, and
// compares what both streams show, times apart. Standard error comes first,
// since the streams are not one terminal's.
func TestExamples(t *testing.T) {
	t.Parallel()
	path := programOnPath(t)
	var blocks [][]string
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, consoleBlock.FindAllStringSubmatch(string(text), -1)...)
	}
	if len(blocks) == 0 {
		t.Fatal("no examples found")
	}
	for _, block := range blocks {
		for _, example := range strings.Split(block[1], "$ ")[1:] {
			line, want, _ := strings.Cut(example, "\n")
			t.Run(line, func(t *testing.T) {
				if strings.Contains(line, "curl") {
					if _, err := exec.LookPath("curl"); err != nil {
						t.Skip(err)
					}
				}
				cmd := command(t, "sh", "-c", line)
				cmd.Dir = ".."
				cmd.Env = append(os.Environ(), path, "NO_COLOR=1")
				output, _ := cmd.CombinedOutput()
				if got, want := settle(string(output)), settle(want); got != want {
					t.Errorf("it prints\n%swant\n%s", got, want)
				}
			})
		}
	}
}

var (
	pipelineBlock = regexp.MustCompile("(?s)```(?:yaml|groovy)\n(.*?)```")
	pipelineStep  = regexp.MustCompile(`(?m)^ *(?:- run: |- script: |command: "|sh '|- )(retry .*?)["']?$`)
)

// TestPipelines runs each step of the pipelines in docs/ci.md beside a make that
// succeeds.
func TestPipelines(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the steps are for a Unix shell")
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	path := programOnPath(t)
	bin, _, _ := strings.Cut(strings.TrimPrefix(path, "PATH="), string(os.PathListSeparator))
	if err := os.WriteFile(filepath.Join(bin, "make"), []byte("#!/bin/sh\necho make $*\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, block := range pipelineBlock.FindAllStringSubmatch(string(page), -1) {
		system, _, _ := strings.Cut(block[1], ",")
		t.Run(strings.Trim(system, "#/ "), func(t *testing.T) {
			steps := pipelineStep.FindAllStringSubmatch(block[1], -1)
			if len(steps) != 1 {
				t.Fatalf("%d steps found in\n%s", len(steps), block[1])
			}
			cmd := command(t, "sh", "-ec", steps[0][1])
			cmd.Env = append(os.Environ(), path)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "make test\n") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// flagColumn is the second column of a row whose code begins with a flag.
var flagColumn = regexp.MustCompile("(?m)^\\| `.*?` \\| `(--[^`]+)` \\|")

// TestComingFrom: the program takes the flags that docs/coming-from.md names.
func TestComingFrom(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "coming-from.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := flagColumn.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 40 {
		t.Fatalf("only %d rows found", len(rows))
	}
	path := programOnPath(t)
	for _, row := range rows {
		mode := "--print-policy "
		if row[1] == "--version" {
			mode = ""
		}
		cmd := command(t, "sh", "-c", "retry "+mode+row[1])
		cmd.Env = append(os.Environ(), path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", row[1], err, out)
		}
	}
}

// TestPictures holds the diagrams of docs/ to the program that draws them.
func TestPictures(t *testing.T) {
	dir := t.TempDir()
	draw := command(t, "go", "run", "./testdata/pictures", dir)
	draw.Dir = ".."
	if out, err := draw.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	drawn, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil || len(drawn) == 0 {
		t.Fatalf("%d pictures, %v", len(drawn), err)
	}
	for _, file := range drawn {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if got, err := os.ReadFile(filepath.Join("..", "docs", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not current (%v): run go run ./testdata/pictures docs", name, err)
		}
	}
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.+)$`)
	codeBlock    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// anchor is how GitHub names a heading: lower case, blanks as dashes, everything
// else but letters, digits, dashes and underscores left out.
func anchor(title string) string {
	title = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-")
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 0x80 {
			return r
		}
		return -1
	}, title)
}

// TestLinks follows every link of the README and of docs/ that stays in the
// project, and its anchor.
func TestLinks(t *testing.T) {
	followed := 0
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range markdownLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
			file, fragment, _ := strings.Cut(link[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			followed++
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			body, err := os.ReadFile(target)
			if err != nil {
				t.Errorf("%s links to %s: %v", page, link[1], err)
				continue
			}
			found := fragment == ""
			for _, h := range heading.FindAllStringSubmatch(string(body), -1) {
				found = found || anchor(h[1]) == fragment
			}
			if !found {
				t.Errorf("%s links to %s, which has no such heading", page, link[1])
			}
		}
	}
	if followed < 20 {
		t.Errorf("only %d links followed", followed)
	}
}

// TestDocumentsAreLinked: every page can be reached from the README.
func TestDocumentsAreLinked(t *testing.T) {
	for _, page := range documents(t) {
		name := "docs/" + filepath.Base(page)
		if filepath.Base(page) != "README.md" && !strings.Contains(readme(t), "("+name) {
			t.Errorf("README.md does not link to %s", name)
		}
	}
}

// pathInCode is a path of the project, perhaps with a pattern.
var pathInCode = regexp.MustCompile("`((?:cli|engine|testdata|docs|\\.ci|\\.github)/[A-Za-z0-9_./*-]+)`")

// TestPathsOfTheDocuments: the files and folders of the project that a page names are there.
func TestPathsOfTheDocuments(t *testing.T) {
	found := 0
	for _, page := range append(documents(t), filepath.Join("..", ".github", "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range pathInCode.FindAllStringSubmatch(string(text), -1) {
			found++
			if files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(path[1]))); err != nil ||
				len(files) == 0 {
				t.Errorf("%s names %s, which is not there", page, path[1])
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d paths found", found)
	}
}
