package cli

// This file runs rows of docs/coming-from.md by both programs.

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// isDebians reports whether the program is the package retry of Debian: other programs
// have the same name.
func isDebians(path string) bool {
	help, _ := exec.Command(path, "--help").CombinedOutput()
	return strings.Contains(string(help), "Repeat command until a criteria is met")
}

// TestOthers compares the ends of commands under another tool and under retry. A command
// counts its runs in the file "runs".
func TestOthers(t *testing.T) {
	path := programOnPath(t)
	const twice = `'echo x >>runs; test $(wc -l <runs) -lt 2'`
	const second = `'echo x >>runs; test $(wc -l <runs) -lt 2 || exit 3; exit 75'`
	for _, c := range []struct {
		theirs, ours string // command lines, each beginning with its program
		end          string // of theirs: exit code, lines of runs
		our          string // where it differs
	}{
		{"/usr/bin/retry -t 3 -d 0 -- sh -c 'echo x >>runs; exit 7'",
			"retry --attempts 3 --delays 0 -- sh -c 'echo x >>runs; exit 7'", "7 xxx", ""},
		{"/usr/bin/retry -u fail -d 0 -- sh -c " + twice, "retry --until-failure --delays 0 -- sh -c " + twice,
			"1 xx", ""},
		{"/usr/bin/retry -u 3 -d 0 -- sh -c " + second, "retry --success-on-exit 3 --delays 0 -- sh -c " + second,
			"3 xx", "0 xx"},
		{"/usr/bin/retry -w 75 -d 0 -- sh -c " + second, "retry --on-exit 75 --delays 0 -- sh -c " + second, "3 xx",
			""},
		{"timeout 0.2 sleep 600", "retry --attempts 1 --timeout 0.2 sleep 600", "124 ", ""},
		// which ends nothing,
		{"timeout -k 0.2 -s URG 0.2 sleep 600",
			"retry --attempts 1 --signal URG --kill-after 0.2 --timeout 0.2 sleep 600", "137 ", "124 "},
		{"tini -s -- sh -c 'exit 3'", "retry --attempts 1 -- sh -c 'exit 3'", "3 ", ""},
		{"dumb-init sh -c 'kill -TERM $$'", "retry --attempts 1 -- sh -c 'kill -TERM $$'", "143 ", ""},
		{"wait-for-it -q -t 1 localhost:1 -- sh -c 'echo x >>runs'",
			"retry --wait-for tcp://localhost:1 --wait-timeout 1s -- sh -c 'echo x >>runs'", "0 x", "124 "},
		{"wait-for-it -q -s -t 1 localhost:1 -- sh -c 'echo x >>runs'",
			"retry --wait-for tcp://localhost:1 --wait-timeout 1s -- sh -c 'echo x >>runs'", "124 ", ""},
		{"flock -n lock flock -n lock true",
			"retry -n 1 --key k --store file:state --max-concurrent 1,of=runs -- retry -n 1 --key k --store " +
				"file:state --max-concurrent 1,of=runs -- true", "1 ", "75 "},
		{"flock -w 0.1 lock flock -w 0.1 lock true",
			"retry -n 1 --key k --store file:state --max-concurrent 1,of=runs -- retry -n 1 --key k --store " +
				"file:state --max-concurrent 1,of=runs,wait=100ms -- true", "1 ", "75 "},
		{"chronic sh -c 'echo x; exit 3'",
			"retry --attempts 1 --stdout on-failure --stderr on-failure -- sh -c 'echo x; exit 3'", "3 ", ""},
	} {
		t.Run(c.theirs, func(t *testing.T) {
			t.Parallel()
			tool, _, _ := strings.Cut(c.theirs, " ")
			found, err := exec.LookPath(tool)
			switch {
			case err != nil:
				t.Skip(err)
			case tool == "/usr/bin/retry" && !isDebians(found):
				t.Skip(found + " is not the package retry of Debian")
			}
			if c.our == "" {
				c.our = c.end
			}
			for line, want := range map[string]string{c.theirs: c.end, c.ours: c.our} {
				cmd := command(t, "sh", "-c", line)
				cmd.Dir = t.TempDir()
				cmd.Env = append(os.Environ(), path)
				out, err := cmd.CombinedOutput()
				code := "0"
				if failed := new(exec.ExitError); errors.As(err, &failed) {
					code = strings.TrimPrefix(failed.String(), "exit status ")
				}
				runs, _ := os.ReadFile(cmd.Dir + "/runs")
				if got := code + " " + strings.ReplaceAll(string(runs), "\n", ""); got != want {
					t.Errorf("%s: %q, want %q\n%s", line, got, want, out)
				}
			}
		})
	}
}
