package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/retrysh/retry/cli/option"
)

// TestVersionOfATaggedClone builds what stands here as a clone at a tag does,
// with nothing handed to the linker. What was built holds the packages that read
// the command line and colour the output.
func TestVersionOfATaggedClone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	clone, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"cli", "engine", "exitcodes"} {
		if err := os.CopyFS(filepath.Join(clone, name), os.DirFS(filepath.Join("..", name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(clone, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := command(t, append([]string{name}, args...)...)
		cmd.Dir = clone
		cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "HOME="+home, "GIT_CONFIG_NOSYSTEM=1",
			"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOPROXY="+goEnv(t, "GOPROXY"),
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a",
			"GIT_COMMITTER_EMAIL=a@localhost",
			"GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("git", "init", "-q")
	run("git", "add", ".")
	run("git", "commit", "-qm", "a")
	run("git", "tag", "v1.2.3")
	program := filepath.Join(t.TempDir(), "retry.exe")
	run("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".") // what goBuild has in the cache
	if info, err := os.Stat(program); err != nil || info.Size() > largestProgram {
		t.Errorf("the program has %d bytes, at most %d are allowed (%v); does something find methods by their names?",
			info.Size(), largestProgram, err)
	}
	modules := run("go", "version", "-m", program)
	for _, module := range []string{"github.com/alecthomas/kong", "github.com/fatih/color"} {
		if !strings.Contains(modules, "\tdep\t"+module+"\t") {
			t.Errorf("%s is not in the program:\n%s", module, modules)
		}
	}
	want := "retry v1.2.3 (" + run("git", "rev-parse", "HEAD") + ", 2026-01-02T03:04:05Z) " + runtime.Version() +
		" " + runtime.GOOS + "/" + runtime.GOARCH
	if got := run(program, "--version"); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if page := run(program, "--man"); !strings.HasPrefix(page, `.TH RETRY 1 "2026-01-02" `) {
		t.Errorf("the manual page begins %.60q, want the commit's date in it", page)
	}
}

// largestProgram is the size in bytes that the stripped program may have.
const largestProgram = 11_500_000

// goEnv asks before HOME is changed, since the defaults hang on it.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := command(t, "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestManualPageIsSafeRoff: no text of the flags begins a request or ends an
// escape.
func TestManualPageIsSafeRoff(t *testing.T) {
	var page bytes.Buffer
	if err := printPage(&page, &option.Options{About: "man"}); err != nil {
		t.Fatal(err)
	}
	request := regexp.MustCompile(`^\.(TH|SH|SS|TP|PP|B|BR|I|RI|EX|EE|br)( |$)`)
	for line := range strings.Lines(page.String()) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, ".") && !request.MatchString(line) {
			t.Errorf("unexpected request: %s", line)
		}
	}
}
