package cli

// This file runs the scripts in testdata/script: the program from outside, one
// behaviour a script. Commands that the scripts may use beside retry itself
// and the system's:
//
//	await FILE         waits until FILE has content; the sentinel of a script
//	tty ... -- CMD     runs CMD on a terminal of its own; see tty_test.go
//	peers ... -- CMD   runs CMD beside servers on loopback; see peers_test.go
//	attributes         prints what else survives an exec; see attributes_linux_test.go
//	serve ... -- CMD   runs CMD beside a web server; see serve_test.go
//	prod ... -- CMD    runs CMD and sends it signals; see prod_unix_test.go
//	redis ... -- CMD   runs CMD beside a redis-server; see redis_test.go
//	gone FILE          fails if a process whose pid is in FILE lives
//	collect ... -- CMD runs CMD beside collectors; see collect_test.go
//	stretch ... -- CMD runs CMD with longer spans of time; see stretch_test.go
//	catching PID       waits until a program catches signals; see prod_unix_test.go
//
// and conditions beside testscript's own; see condition.

import (
	"context"
	"errors"
	goflag "flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/testdata/session"
)

// commands are what scripts may run beside the system's programs.
var commands = map[string]func(){
	"retry":   func() { os.Exit(Main()) },
	"await":   awaitMain,
	"tty":     ttyMain,
	"peers":   peersMain,
	"serve":   serveMain,
	"prod":    prodMain,
	"redis":   redisMain,
	"gone":    goneMain,
	"collect": collectMain,
	"stretch": stretchMain,
}

func TestMain(m *testing.M) { testscript.Main(inSession{m}, commands) }

// inSession runs the tests in a session of their own, without a terminal and with default
// dispositions, whatever the environment says that is not theirs.
type inSession struct{ *testing.M }

func (s inSession) Run() int {
	// Scripts wait most of the time, so that more of them than there are
	// processors run beside one another. Set before the flags are parsed it is
	// a default, which -parallel beats.
	if err := goflag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	ownEnvironment()
	return session.Run(s.M)
}

// ownEnvironment takes from the environment what the tests do not hold for: the user's
// settings for this program, a CI system, and a folder of PATH that this user may not
// search, for which execvp(3) has another error.
func ownEnvironment() {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case strings.HasPrefix(name, "RETRY_TEST_"):
		case slices.ContainsFunc(foreign, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
			_ = os.Unsetenv(name)
		}
	}
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(folder string) bool {
		_, err := os.Stat(filepath.Join(folder, "no-such-command"))
		return errors.Is(err, fs.ErrPermission)
	})
	err := errors.Join(
		os.Setenv("PATH", strings.Join(folders, string(os.PathListSeparator))),
		os.Setenv(registry.Variable, ""), // the runs of tests are not the user's
	)
	if err != nil {
		panic(err)
	}
}

// foreign are the beginnings of the names of what is taken.
var foreign = []string{
	"RETRY_", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "OTEL_", "TRACEPARENT",
	"CI", "GITHUB_", "GITLAB_", "CLICOLOR", "FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES", "BASH_ENV", "ENV",
	"MANPATH", "POSIXLY_CORRECT",
}

// scriptLimit bounds each script. Only one that hangs reaches it.
const scriptLimit = 5 * time.Minute

// startFirst are the scripts that wait for five seconds and more. They start first, so
// that no core is idle at the end, while the last of them waits alone.
var startFirst = []string{
	"store_redis_slot_lost", "store_redis_slots", "wait_for_beats", "stream_stuck_reader", "nested_signals_once",
	"terminal_which_attempt_runs",
}

func TestScripts(t *testing.T) {
	t.Parallel()
	pathOf := func(name string) string { return filepath.Join("..", "testdata", "script", name+".txtar") }
	files, err := filepath.Glob(pathOf("*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	var early []string
	for _, name := range startFirst {
		if !slices.Contains(files, pathOf(name)) {
			t.Fatalf("there is no script %s", name)
		}
		early = append(early, pathOf(name))
	}
	later := slices.DeleteFunc(files, func(file string) bool { return slices.Contains(early, file) })
	for _, file := range append(early, later...) {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScript(t, file)
		})
	}
}

// script is the test of one script. It has begun by the time that testscript
// would begin it, so that its limit counts from its own start.
type script struct {
	*testing.T
	file string
}

func (s script) Run(_ string, f func(testscript.T)) { f(s) }
func (s script) Parallel()                          {}

// bareSkip is a line that skips the script without a reason.
var bareSkip = regexp.MustCompile(`(?m)^\[!?(\S+)\] skip$`)

// Skip says what is missing if the script does not.
func (s script) Skip(reason ...any) {
	s.Helper()
	if len(reason) == 0 {
		text, _ := os.ReadFile(s.file)
		for _, line := range bareSkip.FindAllStringSubmatch(string(text), -1) {
			reason = append(reason, "needs "+strings.TrimPrefix(line[1], "exec:"))
		}
	}
	s.T.Skip(reason...)
}

// Verbose is for who runs chosen scripts with -v: of all of them, what each one
// does is 200,000 lines.
func (s script) Verbose() bool {
	return testing.Verbose() && goflag.Lookup("test.run").Value.String() != ""
}

func runScript(t *testing.T, file string) {
	testscript.RunT(script{t, file}, testscript.Params{
		Files:               []string{file},
		Deadline:            time.Now().Add(scriptLimit),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			// The scripts hold for the defaults, not for a developer's own
			// variables; under the race detector a program sleeps for a second
			// before it exits, unless a variable forbids it.
			env.Setenv("GORACE", "atexit_sleep_ms=10")
			env.Setenv(registry.Variable, "")
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home")) // is not there yet
			env.Setenv("STATE_DIRECTORY", filepath.Join(env.WorkDir, ".home", "service"))
			// The limit ends what the script started, and it would wait on for
			// what that left behind with its output.
			limit := time.AfterFunc(scriptLimit, func() { killAll(env.WorkDir) })
			env.Defer(func() { limit.Stop(); killAll(env.WorkDir) })
			return nil
		},
	})
}

// condition answers what a script may ask of the machine: [file:PATH], the
// system has that file; [ipv6], loopback has IPv6; [namespaces], this user may
// make a PID namespace; [capable], it may give up capabilities and become
// another.
func condition(cond string) (bool, error) {
	if name, ok := strings.CutPrefix(cond, "file:"); ok {
		_, err := os.Stat(name)
		return err == nil, nil
	}
	switch cond {
	case "ipv6":
		l, err := net.Listen("tcp", "[::1]:0")
		if err == nil {
			_ = l.Close()
		}
		return err == nil, nil
	case "namespaces":
		return exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").Run() == nil, nil
	case "capable":
		return exec.Command("setpriv", "--bounding-set=-kill", "--inh-caps=-kill", "setpriv", "--reuid=65534",
			"--clear-groups", "true").Run() == nil, nil
	}
	return false, fmt.Errorf("no such condition: %q", cond)
}

// command is a command that is killed after a limit, which only one that hangs
// reaches, and that is not waited for because of what it left with its output.
func command(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), scriptLimit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.WaitDelay = awaitLimit
	return cmd
}

// awaitLimit bounds the wait for a sentinel. It is only reached when the
// program under test has failed.
const awaitLimit = 2 * time.Minute

// awaitMain waits until each file named has content.
func awaitMain() {
	for _, name := range os.Args[1:] {
		awaitContent(name)
	}
}

func awaitContent(name string) {
	if !awaitFile(name) {
		fmt.Fprintf(os.Stderr, "%s has no content after %v\n", name, awaitLimit)
		os.Exit(1)
	}
}

// awaitFile waits until a file has content and reports whether it has.
func awaitFile(name string) bool {
	for end := time.Now().Add(awaitLimit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// goBuild builds the program in a directory as a release has it. All tests build with
// the same settings, so that they share what is in the cache.
func goBuild(target, dir string, environ ...string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", target, dir)
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0"), environ...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
