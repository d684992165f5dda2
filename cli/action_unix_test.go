//go:build unix

package cli

// This file runs the action's scripts as a runner does, and its workflow by act
// if that is installed.

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// actionInputs are the inputs of the action with their defaults.
var actionInputs = map[string]string{
	"COMMAND": "", "MAX_ATTEMPTS": "3", "RETRY_WAIT_SECONDS": "10", "TIMEOUT_MINUTES": "", "TIMEOUT_SECONDS": "",
	"SHELL":    "",
	"RETRY_ON": "", "RETRY_ON_EXIT_CODE": "", "ON_RETRY_COMMAND": "", "NEW_COMMAND_ON_RETRY": "",
	"WARNING_ON_RETRY":  "true",
	"CONTINUE_ON_ERROR": "false", "POLICY": "", "CLASSIFY": "", "FLAGS": "",
}

// action is a copy of the action in a directory of its own.
type action struct {
	dir string
	env []string
}

func newAction(t *testing.T, checksums string) *action {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not here")
	}
	a := &action{dir: t.TempDir()}
	if err := os.CopyFS(a.dir, os.DirFS("../.github/actions/retry")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, "checksums.txt"), []byte(checksums), 0o666); err != nil {
		t.Fatal(err)
	}
	a.env = append(os.Environ(), "RUNNER_TOOL_CACHE="+filepath.Join(a.dir, "cache"), "GITHUB_OUTPUT="+a.output())
	return a
}

func (a *action) output() string { return filepath.Join(a.dir, "output") }

// script returns a script of the action with these variables beside.
func (a *action) script(t *testing.T, name string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, "bash", "-c", `exec bash "$0"`, filepath.Join(a.dir, name))
	cmd.Dir, cmd.Env = a.dir, append(a.env, env...)
	return cmd
}

// value is what was written last to GITHUB_OUTPUT under a name.
func (a *action) value(t *testing.T, name string) (value string) {
	t.Helper()
	text, err := os.ReadFile(a.output())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if v, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), name+"="); is {
			value = v
		}
	}
	return value
}

func TestActionFetchesWhatIsListed(t *testing.T) {
	t.Parallel()
	r := serve(t, archive)
	content, _ := archive()
	name := archiveName(t)
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	for title, c := range map[string]struct{ checksums, version, says string }{
		"the newest": {strings.Repeat("0", 64) + "  v1.2.2/" + name + "\n" + sum + "  v1.2.3/" + name + "\n",
			"", ""},
		"a version": {sum + "  v1.2.3/" + name + "\n" + strings.Repeat("0", 64) + "  v1.3.0/" + name + "\n",
			"v1.2.3", ""},
		"not listed":       {sum + "  v1.2.3/" + name + "\n", "v1.2.4", "lists no " + name},
		"nothing listed":   {"", "", "lists no " + name},
		"another checksum": {strings.Repeat("0", 64) + "  v1.2.3/" + name + "\n", "", "it was not unpacked"},
		"not there":        {sum + "  v9.9.9/" + name + "\n", "", "cannot be downloaded"},
	} {
		t.Run(title, func(t *testing.T) {
			a := newAction(t, c.checksums)
			out, err := a.script(t, "program.sh", "RETRYSH_BASE_URL="+r.URL,
				"RETRYSH_IN_VERSION="+c.version).CombinedOutput()
			if c.says != "" {
				if left, _ := filepath.Glob(filepath.Join(a.dir, "cache", "*", "*", "*", "*")); err == nil ||
					!strings.Contains(string(out), c.says) || left != nil {
					t.Errorf("%v: %s; %v is there", err, out, left)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := exec.Command(a.value(t, "program"), "--version").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// program is the program, built once.
func (a *action) program(t *testing.T) string {
	t.Helper()
	r := serve(t, archive)
	content, _ := archive()
	sums := fmt.Sprintf("%x  v1.2.3/%s\n", sha256.Sum256(content), archiveName(t))
	if err := os.WriteFile(filepath.Join(a.dir, "checksums.txt"), []byte(sums), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := a.script(t, "program.sh", "RETRYSH_BASE_URL="+r.URL).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a.value(t, "program")
}

// TestActionRefusesInputs: what is not valid fails the step before the command starts.
func TestActionRefusesInputs(t *testing.T) {
	t.Parallel()
	for input, c := range map[string]struct{ value, says string }{
		"WARNING_ON_RETRY":  {"yes", `warning_on_retry: "yes" is not true or false`},
		"CONTINUE_ON_ERROR": {"1", `continue_on_error: "1" is not true or false`},
		"MAX_ATTEMPTS":      {"0", `max_attempts: "0" is not a whole number from 1`},
		"RETRY_ON":          {"never", `retry_on: "never" is not any, timeout or error`},
	} {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			a := newAction(t, "")
			out, err := a.script(t, "run.sh",
				a.inputs("RETRYSH_IN_PROGRAM=/nonexistent", "COMMAND", "touch started", input,
					c.value)...).CombinedOutput()
			if _, started := os.Stat(filepath.Join(a.dir, "started")); err == nil || started == nil ||
				!strings.Contains(string(out), c.says) || a.value(t, "attempts") != "0" {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestActionHidesItsVariables: no variable of the action reaches the command.
func TestActionHidesItsVariables(t *testing.T) {
	t.Parallel()
	a := newAction(t, "")
	env := a.inputs("RETRYSH_IN_PROGRAM="+a.program(t), "COMMAND", "env >seen", "WARNING_ON_RETRY", "TRUE")
	out, err := a.script(t, "run.sh",
		append(env, "RETRYSH_BASE_URL=x", "RETRYSH_PROGRAM=y", "RETRYSH_OTHER=z",
			"RETRY_TIMEOUT=9s")...).CombinedOutput()
	seen, readErr := os.ReadFile(filepath.Join(a.dir, "seen"))
	if err != nil || readErr != nil || strings.Contains(string(seen), "RETRYSH") ||
		!strings.Contains(string(seen), "RETRY_TIMEOUT=9s") {
		t.Errorf("%v: %s\nthe command saw\n%s", err, out, seen)
	}
}

// inputs are the variables of the action's inputs, with those of pairs in place of the defaults.
func (a *action) inputs(program string, pairs ...string) []string {
	env := []string{program}
	for name, value := range actionInputs {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				value = pairs[i+1]
			}
		}
		env = append(env, "RETRYSH_IN_"+name+"="+value)
	}
	return env
}

// TestActionPassesSignalsOn: the step becomes the program, so that the runner's
// INT reaches the command.
func TestActionPassesSignalsOn(t *testing.T) {
	t.Parallel()
	a := newAction(t, "")
	env := []string{"RETRYSH_IN_PROGRAM=" + a.program(t)}
	for name, value := range actionInputs {
		if name == "COMMAND" {
			value = `trap 'echo INT >>signals; exit 3' INT; echo up >up; while :; do sleep 0.01; done`
		}
		env = append(env, "RETRYSH_IN_"+name+"="+value)
	}
	step := a.script(t, "run.sh", env...)
	step.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := step.Start(); err != nil {
		t.Fatal(err)
	}
	awaitContent(filepath.Join(a.dir, "up"))
	if err := step.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = step.Wait()
	signals, err := os.ReadFile(filepath.Join(a.dir, "signals"))
	if err != nil || string(signals) != "INT\n" || a.value(t, "outcome") != "cancelled" ||
		a.value(t, "attempts") != "1" {
		t.Errorf("the command got %q, %v; outcome %q after %s attempts", signals, err, a.value(t, "outcome"),
			a.value(t, "attempts"))
	}
}

// TestActionWorkflow runs the action's own workflow.
func TestActionWorkflow(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"act", "git", "jq", "python", "node"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here", tool)
		}
	}
	if testing.Short() {
		t.Skip("builds the program")
	}
	home, clone := t.TempDir(), filepath.Join(t.TempDir(), "retry")
	if strings.Contains(clone, " ") {
		t.Skipf("act takes no path with blanks, as %q is", clone)
	}
	actrc := filepath.Join(home, ".config", "act", "actrc")
	if err := os.MkdirAll(filepath.Dir(actrc), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(actrc, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	copyTree(t, clone)
	// What the workflow builds is built here already.
	bin := t.TempDir()
	copyProgram(t, filepath.Join(bin, "program"))
	build := "#!/bin/sh\n[ \"$*\" = 'build -o retry .' ] && cp '" + bin + "/program' retry\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(build), 0o755); err != nil {
		t.Fatal(err)
	}
	act := command(t, "act", "push", "-W", ".github/workflows/action.yml", "-P", "ubuntu-latest=-self-hosted",
		"--pull=false", "--action-offline-mode")
	act.Dir, act.Env = clone, append(os.Environ(), "HOME="+home,
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := act.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// copyTree makes a repository of what stands here, with one commit.
func copyTree(t *testing.T, to string) {
	t.Helper()
	for _, words := range []string{
		"mkdir -p " + to,
		"sh -c (git -C .. ls-files -z --cached --others --exclude-standard) | (cd .. && xargs -0 cp --parents -t " +
			to + ")",
		"git init -q " + to,
		"git -C " + to + " add -A",
		"git -C " + to + " -c user.name=a -c user.email=a@localhost commit -qm a",
	} {
		args := strings.SplitN(words, " ", 3)
		if args[0] != "sh" {
			args = strings.Fields(words)
		}
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", words, err, out)
		}
	}
}

// TestGitLabTemplate runs a job that extends the template, by gitlab-ci-local.
func TestGitLabTemplate(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"gitlab-ci-local", "rsync", "git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here", tool)
		}
	}
	r := serve(t, archive)
	content, _ := archive()
	name := archiveName(t)
	job := func(t *testing.T, sum, inputs string) (string, error) {
		tree := t.TempDir()
		for path, dir := range map[string]string{".github/actions/retry": "../.github/actions/retry",
			".gitlab": "../.gitlab"} {
			if err := os.CopyFS(filepath.Join(tree, path), os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
		}
		list := command(t, "bash", filepath.Join(tree, ".github/actions/retry/list.sh"), "v1.2.3")
		list.Stdin = strings.NewReader(sum + "  " + name + "\n")
		if out, err := list.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		pipeline := "include:\n  - local: .gitlab/component/templates/retry.yml\n    inputs: {" + inputs +
			"}\ntest:\n  extends: .retry\n  script:\n    - retry -n 2 -- sh -c 'echo ran by $RETRY_MAX_ATTEMPTS " +
			"attempts'\n"
		if err := os.WriteFile(filepath.Join(tree, ".gitlab-ci.yml"), []byte(pipeline), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{"init -q", "remote add origin git@localhost:a/b.git", "add -A",
			"-c user.name=a -c user.email=a@localhost commit -qm a"} {
			if out, err := exec.Command("git",
				append([]string{"-C", tree}, strings.Fields(words)...)...).CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v: %s", words, err, out)
			}
		}
		run := command(t, "gitlab-ci-local", "--force-shell-executor", "--variable", "RETRYSH_BASE_URL="+r.URL, "test")
		run.Dir, run.Env = tree, append(os.Environ(), "HOME="+t.TempDir())
		out, err := run.CombinedOutput()
		return string(out), err
	}
	good := fmt.Sprintf("%x", sha256.Sum256(content))
	for title, c := range map[string]struct{ sum, inputs, says string }{
		"the newest":       {good, "", "ran by 2 attempts"},
		"a version":        {good, "version: v1.2.3, directory: tools/retry", "ran by 2 attempts"},
		"not listed":       {good, "version: v1.2.4", "is not listed"},
		"another checksum": {strings.Repeat("0", 64), "", "it was not unpacked"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			out, err := job(t, c.sum, c.inputs)
			if !strings.Contains(out, c.says) || (err == nil) != strings.HasPrefix(c.says, "ran") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
