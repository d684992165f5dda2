//go:build unix

package proc

// This file holds tests of starting a command and of its result.

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/exitcodes"
	"github.com/retrysh/retry/testdata/late"
)

func TestResults(t *testing.T) {
	for _, c := range []struct {
		script, end, signal string
		code                int
	}{
		{"exit 0", "exit status 0", "", 0},
		{"exit 7", "exit status 7", "", 7},
		{"exit 255", "exit status 255", "", 255},
		{"kill -9 $$", "signal: killed", "SIGKILL", 137},
		{"kill -QUIT $$", "signal: quit", "SIGQUIT", 131},
		{"kill -SEGV $$", "signal: segmentation fault", "SIGSEGV", 139},
		{"kill -ABRT $$", "signal: aborted", "SIGABRT", 134},
		{"kill -TERM $$", "signal: terminated", "SIGTERM", 143},
	} {
		d := run(t, orders{Argv: sh(c.script)})
		res := d.only()
		if res.ExitCode != c.code || string(res.Signal) != c.signal || res.Err != "" || res.TimedOut ||
			res.Cancelled != "" {
			t.Errorf("%s: %+v", c.script, res)
		}
		if d.end() != c.end || d.Stderr.Len() > 0 || strings.Contains(d.ProcessState.String(), "core") {
			t.Errorf("%s: ended by %q with %q, want %q and nothing", c.script, d.ProcessState, d.Stderr.String(), c.end)
		}
	}
}

func TestLookup(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("a/plain", "#!/bin/sh\nexit 3\n", 0o644)
	write("a/both", "#!/bin/sh\nexit 3\n", 0o644)
	write("b/both", "#!/bin/sh\nexit 4\n", 0o755)
	write("a/orphan", "#!/no/such/interpreter -x\n", 0o755)
	write("a/second", "#!/no/such/interpreter\n", 0o755)
	write("b/second", "#!/bin/sh\nexit 5\n", 0o755)
	write("b/bare", "exit $#\n", 0o755)
	write("a/sub/x", "", 0o644)
	path := filepath.Join(dir, "a") + ":" + filepath.Join(dir, "missing") + ":" + filepath.Join(dir, "a/plain") +
		":" + filepath.Join(dir, "b")
	t.Setenv("PATH", path)
	for _, c := range []struct {
		argv []string
		code int
		says string
	}{
		{[]string{"nowhere"}, 127, `"nowhere": not found in PATH`},
		{[]string{""}, 127, "empty"},
		{[]string{"plain"}, 126, "permission denied"},
		{[]string{"both"}, 4, ""},
		{[]string{"second"}, 5, ""},
		{[]string{"orphan"}, 127, `its interpreter "/no/such/interpreter" was not found`},
		{[]string{"bare", "x", "y"}, 2, ""},
		{[]string{"sub"}, 126, "is a directory"},
		{[]string{dir}, 126, "is a directory"},
		{[]string{dir + "/a/plain"}, 126, "permission denied"},
		{[]string{dir + "/none"}, 127, "not found"},
		{[]string{"both", "too long"}, 126, "argument list too long"},
	} {
		if err := LookUp(c.argv[0]); len(c.argv) == 1 && (exitcodes.Of(err) == exitcodes.OK) != (c.says == "") ||
			err != nil && (exitcodes.Of(err) != c.code || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("looking up %q: %v, want %q", c.argv[0], err, c.says)
		}
		o := orders{Argv: c.argv}
		if c.argv[len(c.argv)-1] == "too long" {
			o.Long = 200 << 10 // one argument has at most 128 KiB (execve(2))
		}
		d := run(t, o)
		res := d.only()
		if res.ExitCode != c.code || !strings.Contains(res.StartErr, c.says) || (c.says == "") != (res.StartErr == "") {
			t.Errorf("%.60q: code %d, %q; want %d, %q", c.argv, res.ExitCode, res.StartErr, c.code, c.says)
		}
	}
}

func TestTimeoutWhateverTheExit(t *testing.T) {
	t.Parallel()
	for script, grace := range map[string]time.Duration{ // ten minutes are not waited for
		"touch \"$UP\"; sleep 600": 10 * time.Minute,
		// A child that a shell has just forked may take the signal for its parent's trap: this
		// one's is short.
		"trap 'exit 0' TERM; touch \"$UP\"; while :; do sleep 0.01; done":        10 * time.Minute,
		"trap '' TERM; touch \"$UP\"; (trap '' TERM; sleep 600) & sleep 600":     300 * time.Millisecond,
		"touch \"$UP\"; kill -STOP $$":                                           10 * time.Minute,
		"touch \"$UP\"; (setsid sleep 600; :) & setsid sleep 600 & sleep 600; :": 10 * time.Minute,
	} {
		late.Retry(t, 200*time.Millisecond, func(timeout time.Duration) (slow bool) {
			up := t.TempDir() + "/up"
			d := order(t, orders{Argv: sh(script), Timeout: timeout, KillAfter: grace})
			d.Env = append(d.Env, "UP="+up)
			slow = !d.startsWithin(timeout, up)
			d.wait()
			res := d.only()
			if !res.TimedOut || res.ExitCode != 124 || d.end() != "exit status 124" {
				t.Errorf("%s: %+v, %s", script, res, d.end())
			}
			least := timeout
			if grace < limit {
				least += grace
			}
			if res.Duration < least && !slow {
				t.Errorf("%s: took %v, want at least %v", script, res.Duration, least)
			}
			return slow
		})
	}
}

func TestDeadline(t *testing.T) {
	d := run(t, orders{Argv: []string{"sleep", "600"}, Deadline: 100 * time.Millisecond, Timeout: time.Minute,
		KillAfter: time.Second, Attempts: 3})
	if res := d.only(); !res.DeadlinePassed || res.TimedOut || res.ExitCode != 124 {
		t.Errorf("%+v", res)
	}
}

// A command whose deadline has passed is not started.
func TestDeadlineBeforeTheStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ran")
	d := run(t, orders{Argv: []string{"touch", file}, Deadline: 1, Attempts: 3})
	if res := d.only(); !res.DeadlinePassed || !res.NotRun || res.ExitCode != 124 || d.end() != "exit status 124" {
		t.Errorf("%+v, %s", res, d.end())
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it was started")
	}
}

func TestTimeoutIsForTheLeader(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	d := run(t, orders{Argv: sh("sleep 600 & echo $! >" + word(pidFile) + "; exit 3"), Timeout: time.Minute,
		KillAfter: time.Second})
	pid := readPid(t, pidFile)
	defer kill(pid)
	if res := d.only(); res.TimedOut || res.ExitCode != 3 {
		t.Errorf("%+v", res)
	}
	if !lives(pid) {
		t.Error("what the command left behind was ended")
	}
}

func TestKillLeftovers(t *testing.T) {
	for code, left := range map[string]bool{"0": true, "3": false} {
		pidFile := filepath.Join(t.TempDir(), "pid")
		run(t, orders{Argv: sh("setsid sleep 600 & echo $! >" + word(pidFile) + "; sleep 0.1; exit " + code),
			KillLeftovers: true, KillAfter: time.Second})
		pid := readPid(t, pidFile)
		if lives(pid) != left {
			t.Errorf("after exit %s what was left lives: %v, want %v", code, !left, left)
		}
		kill(pid)
	}
}

// What an attempt leaves is its own also if it has neither its session nor its environment,
// while none runs beside it.
func TestKillLeftoversOfALaterAttempt(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	run(t, orders{
		Argv: sh(`[ $RETRY_ATTEMPT = 1 ] || { env -i PATH="$PATH" setsid sleep 600 & echo $! >` + word(pidFile) +
			`; }; sleep 0.1; exit 3`),
		Attempts: 2, KillLeftovers: true, KillAfter: time.Minute,
	})
	if pid := readPid(t, pidFile); lives(pid) {
		t.Error("what the second attempt left lives")
		kill(pid)
	}
}

func TestEarlierDaemonsAreNotTouched(t *testing.T) {
	t.Parallel()
	late.Retry(t, time.Second, func(limit time.Duration) (slow bool) {
		pidFile := filepath.Join(t.TempDir(), "pid")
		script := `if [ $RETRY_ATTEMPT = 1 ]; then setsid sh -c 'echo $$ >` + word(pidFile) +
			`; while :; do sleep 0.01; done' & until [ -s ` + word(pidFile) + ` ]; do sleep 0.01; done; exit 1; fi; sleep 600`
		d := run(t, orders{Argv: sh(script), Attempts: 2, Timeout: limit, KillAfter: time.Second})
		all := d.outcomes()
		if len(all) == 2 && all[0].TimedOut && all[0].Duration >= limit {
			return true
		}
		pid := readPid(t, pidFile)
		defer kill(pid)
		if len(all) != 2 || all[0].ExitCode != 1 || !all[1].TimedOut {
			t.Errorf("%+v", all)
		}
		if !lives(pid) {
			t.Error("the daemon of the first attempt was ended with the second")
		}
		return false
	})
}
