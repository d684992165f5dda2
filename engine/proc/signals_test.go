//go:build unix

package proc

// This file holds tests of signals without a terminal.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/testdata/late"
	"github.com/retrysh/retry/testdata/tries"
)

// signalWhen starts the driver, waits until file is there and signals it.
func (d *driven) signalWhen(file string, sigs ...syscall.Signal) {
	d.t.Helper()
	d.start()
	d.await(file)
	for _, sig := range sigs {
		if !signals.Ends(sig) {
			d.awaitCatching()
			break
		}
	}
	for _, sig := range sigs {
		d.kill(sig)
	}
}

// awaitCatching waits until the driver catches the signals that end nothing.
// TSTP is one that Go does not handle by itself.
func (d *driven) awaitCatching() { d.awaitCaught(syscall.SIGTSTP) }

func (d *driven) awaitCaught(sig syscall.Signal) {
	d.t.Helper()
	eventually(d.t, fmt.Sprintf("%v is caught", sig), func() bool { return signals.Handles(d.Process.Pid, sig) })
}

func (d *driven) await(file string) {
	d.t.Helper()
	eventually(d.t, file, func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
}

// startsWithin starts the driver, and reports whether file is there before the limit. The
// driver may have ended without it.
func (d *driven) startsWithin(limit time.Duration, file string) bool {
	d.t.Helper()
	begun := time.Now()
	d.start()
	for time.Since(begun) < limit {
		if _, err := os.Stat(file); err == nil {
			return time.Since(begun) < limit
		}
		time.Sleep(2 * time.Millisecond)
	}
	return false
}

func (d *driven) kill(sig syscall.Signal) {
	d.t.Helper()
	if err := d.Process.Signal(sig); err != nil {
		d.t.Fatal(err)
	}
}

// counting is a command that counts a signal until a file ends it.
func counting(dir, name string) string {
	return fmt.Sprintf(`trap ': >%[1]s/behind' WINCH; trap 'echo %[2]s >>%[1]s/got' %[2]s; touch %[1]s/up; `+
		`while ! [ -e %[1]s/end ]; do sleep 0.01; done; exit 3`, word(dir), name)
}

func got(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(dir + "/got")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

func touch(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// behind waits until the command has got WINCH, which the program handles after all that has
// reached it before: of the signals that wait, the one with the lowest number is first. What
// has not reached the command by then never does.
func (d *driven) behind(dir string) {
	d.t.Helper()
	d.awaitCaught(syscall.SIGTTOU) // it is caught after WINCH, and none of the tests ignores it
	d.kill(syscall.SIGWINCH)
	d.await(dir + "/behind")
}

// TestCancelReachesTheCommandOnce sends a signal twice within the time that counts as one. If the machine was late,
// the program may have seen them further apart, and the test tries again.
func TestCancelReachesTheCommandOnce(t *testing.T) {
	for name, end := range map[string]string{
		"TERM": "exit status 3", "HUP": "exit status 3", "INT": "signal: interrupt", "QUIT": "signal: quit",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			late.Retry(t, 0, func(time.Duration) (slow bool) {
				dir := t.TempDir()
				sig := syscall.Signal(map[string]int{"TERM": 15, "HUP": 1, "INT": 2, "QUIT": 3}[name])
				// Two that wait at the same time are one, so the shell does not wait for a sleep.
				script := strings.Replace(counting(dir, name), "sleep 0.01", ":", 1)
				d := order(t, orders{Argv: sh(script), Attempts: 3})
				d.signalWhen(dir + "/up")
				begun := time.Now()
				d.kill(sig)
				time.Sleep(10 * time.Millisecond)
				d.kill(sig)
				d.behind(dir)
				slow = time.Since(begun) >= 100*time.Millisecond
				touch(t, dir+"/end")
				d.wait()
				if res := d.only(); string(res.Cancelled) != "SIG"+name || res.ExitCode != 3 {
					t.Errorf("%+v", res)
				}
				if d.end() != end || d.Stderr.Len() > 0 {
					t.Errorf("ended by %q, want %q; stderr %q", d.end(), end, d.Stderr.String())
				}
				switch g := got(t, dir); {
				case g == name:
					return false
				case g != name+" "+name || !slow:
					t.Errorf("the command got %q", g)
				}
				return true
			})
		})
	}
}

func TestSignalsThatEndNothing(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{
		"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "WINCH": syscall.SIGWINCH, "ALRM": syscall.SIGALRM,
		"CONT": syscall.SIGCONT,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d := order(t, orders{Argv: sh(counting(dir, name))})
			d.signalWhen(dir+"/up", sig)
			eventually(t, "the signal", func() bool { return got(t, dir) == name })
			touch(t, dir+"/end")
			d.wait()
			if res := d.only(); res.Cancelled != "" || res.ExitCode != 3 {
				t.Errorf("%+v", res)
			}
		})
	}
}

func TestSignalsThatAreNeverPassedOn(t *testing.T) {
	dir := t.TempDir()
	script := "trap 'echo URG >>" + word(dir) + "/got' URG; trap 'echo PIPE >>" + word(dir) + "/got' PIPE; " +
		counting(dir, "USR2")
	d := order(t, orders{Argv: sh(script)})
	d.signalWhen(dir+"/up", syscall.SIGURG, syscall.SIGCHLD, syscall.SIGPIPE, syscall.SIGUSR2)
	eventually(t, "the last signal", func() bool { return strings.Contains(got(t, dir), "USR2") })
	touch(t, dir+"/end")
	d.wait()
	if g := got(t, dir); g != "USR2" {
		t.Errorf("the command got %q", g)
	}
}

func TestThirdTimeKills(t *testing.T) {
	dir := t.TempDir()
	script := "trap 'echo x >>" + word(dir) + "/got' INT TERM; touch " + word(dir) +
		"/up; (trap '' TERM; setsid sleep 600 & echo $! >" + word(dir) + "/pid; sleep 600) & while :; do sleep 0.01; done"
	d := order(t, orders{Argv: sh(script), Attempts: 3, KillAfter: 10 * time.Minute})
	d.signalWhen(dir + "/up")
	pid := readPid(t, dir+"/pid")
	d.kill(syscall.SIGTERM)
	eventually(t, "the first signal", func() bool { return got(t, dir) == "x" })
	d.kill(syscall.SIGINT)
	eventually(t, "the second signal", func() bool { return got(t, dir) == "x x" })
	time.Sleep(120 * time.Millisecond) // further apart than what counts as one
	if !lives(pid) {
		t.Fatal("ended before the third signal")
	}
	d.kill(syscall.SIGTERM)
	d.wait() // the grace is longer
	if res := d.only(); res.Cancelled != "SIGTERM" || res.Signal != "SIGKILL" || d.end() != "signal: killed" {
		t.Errorf("%+v; %s", res, d.end())
	}
	if lives(pid) {
		t.Error("a descendant is still alive")
	}
}

func TestRemainsOfACancelAreEnded(t *testing.T) {
	dir := t.TempDir()
	script := "setsid sh -c 'echo $$ >" + word(dir) + "/pid; trap \"\" TERM; while :; do sleep 1; done' & " +
		"trap 'exit 0' TERM; touch " + word(dir) + "/up; while :; do sleep 0.01; done"
	d := order(t, orders{Argv: sh(script), KillAfter: 200 * time.Millisecond})
	d.start()
	pid := readPid(t, dir+"/pid")
	d.await(dir + "/up")
	d.kill(syscall.SIGTERM)
	d.wait()
	if res := d.only(); res.Cancelled != "SIGTERM" || res.ExitCode != 0 || d.end() != "exit status 0" {
		t.Errorf("%+v; %s", res, d.end())
	}
	if lives(pid) {
		t.Error("a process that the cancelled command left is still alive")
	}
}

// A signal after the end of the command cuts short what is still done for it: its tree is
// killed, however long that might have taken, and a reader that takes nothing is given up.
func TestSignalAfterTheCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		orders
		gone bool // the reader
		code int
		end  string
		says string
	}{
		"what is left of a tree": {orders{
			Argv: sh(`sh -c 'trap "" TERM; echo $$ >$W/child; while :; do sleep 1; done' & while ! [ -e ` +
				`"$W/child" ]; do sleep 0.01; done; echo $$ >$W/pid; while :; do echo; sleep 0.01; done`),
			Capture: "out", KillAfter: 10 * time.Minute,
		}, true, 143, "signal: broken pipe", ""},
		"a reader": {orders{
			Argv: sh(`echo $$ >$W/pid; head -c 200000 /dev/zero; exit 3`), Capture: "out", Attempts: 2,
			Pause: 10 * time.Minute,
		}, false, 3, "signal: terminated", "writing standard output: its reader takes nothing; the rest is dropped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d := order(t, c.orders)
			d.Env = append(d.Env, "W="+dir)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			d.Cmd.Stdout = w
			d.start()
			_ = w.Close()
			pid := readPid(t, dir+"/pid")
			if c.gone {
				_ = r.Close()
			}
			eventually(t, "the command has ended", func() bool { s := stateOf(pid); return s == "Z" || s == "" })
			d.kill(syscall.SIGTERM)
			d.wait()
			res := d.only()
			if res.ExitCode != c.code || res.Cancelled != "" || d.end() != c.end {
				t.Errorf("%+v; %s; %s", res, d.end(), d.Stderr.String())
			}
			if said := strings.Join(res.Said, "; "); said != c.says {
				t.Errorf("says %q, want %q", said, c.says)
			}
			if c.gone {
				if child := readPid(t, dir+"/child"); lives(child) {
					t.Error("a process of the command is left")
					kill(child)
				}
			}
		})
	}
}

func TestTimeoutAppliesDuringACancel(t *testing.T) {
	t.Parallel()
	late.Retry(t, time.Second, func(limit time.Duration) (slow bool) {
		up := t.TempDir() + "/up"
		d := order(t, orders{Argv: sh("trap '' TERM; touch " + word(up) + "; while :; do sleep 0.01; done"), Timeout: limit})
		begun := time.Now()
		if d.startsWithin(limit, up) {
			d.kill(syscall.SIGTERM)
		}
		slow = time.Since(begun) >= limit
		d.wait()
		if res := d.only(); !slow && res.Cancelled != "SIGTERM" || !res.TimedOut {
			t.Errorf("%+v", res)
		}
		return slow
	})
}

func TestSignalInAWait(t *testing.T) {
	ends := map[syscall.Signal]string{
		syscall.SIGTERM: "signal: terminated", syscall.SIGINT: "signal: interrupt", syscall.SIGHUP: "signal: hangup",
		syscall.SIGQUIT: "signal: quit",
	}
	within := func(sig syscall.Signal, end string) time.Duration {
		dir := t.TempDir()
		d := order(t, orders{Argv: []string{"false"}, Attempts: 2, Pause: 10 * time.Minute, Report: dir + "/report"})
		d.start()
		d.await(dir + "/report")
		begun := time.Now()
		d.kill(sig)
		d.wait()
		took := time.Since(begun)
		if d.end() != end || d.Stderr.Len() > 0 {
			t.Errorf("%v: ended by %q with %q", sig, d.end(), d.Stderr.String())
		}
		return took
	}
	fastest := limit // other work on the machine only slows down
	for sig, end := range ends {
		fastest = min(fastest, within(sig, end))
	}
	const enough = 50 * time.Millisecond
	for tries := 30; fastest > enough && tries > 0; tries-- {
		fastest = min(fastest, within(syscall.SIGTERM, "signal: terminated"))
	}
	if plain := endOfSleep(t); fastest > enough+20*plain {
		t.Errorf("took %v, and the end of sleep takes %v", fastest, plain)
	}
}

// endOfSleep is what the end of a process by a signal takes here and now.
func endOfSleep(t *testing.T) time.Duration {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return time.Since(begun)
}

func TestWake(t *testing.T) {
	dir := t.TempDir()
	d := order(t, orders{Argv: []string{"false"}, Attempts: 2, Pause: 10 * time.Minute, Report: dir + "/report"})
	d.start()
	d.await(dir + "/report")
	// One that comes before the wait has begun ends nothing.
	eventually(t, "the second attempt", func() bool {
		_ = d.Process.Signal(syscall.SIGUSR1)
		return len(d.outcomes()) == 2
	})
	d.kill(syscall.SIGTERM)
	d.wait()
}

func TestIgnoredStaysIgnored(t *testing.T) {
	dir := t.TempDir()
	d := order(t, orders{Argv: sh("grep SigIgn /proc/self/status >" + word(dir) + "/mask; trap ': >" + word(dir) +
		"/behind' WINCH; touch " + word(dir) + "/up; while ! [ -e " + word(dir) + "/end ]; do sleep 0.01; done")})
	args := append([]string{"-c", `trap "" HUP INT TSTP; exec "$@"`, "sh"}, d.Args...)
	d.Path, d.Args = "/bin/sh", append([]string{"sh"}, args...)
	d.signalWhen(dir+"/up", syscall.SIGHUP, syscall.SIGINT)
	d.kill(syscall.SIGTSTP)
	d.behind(dir)
	touch(t, dir+"/end")
	d.wait()
	if res := d.only(); res.Cancelled != "" || res.ExitCode != 0 {
		t.Errorf("%+v", res)
	}
	mask, _ := os.ReadFile(dir + "/mask")
	if !strings.HasSuffix(strings.TrimSpace(string(mask)), "80003") { // bits of 1, 2 and 20
		t.Errorf("the command ignores %s", mask)
	}
}

func TestCommandInheritsTheMaskAndLimits(t *testing.T) {
	show := "grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; ulimit -n; ulimit -c; umask; ls /proc/self/fd | wc -l"
	want, err := exec.Command("/bin/sh", "-c", show).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []orders{{Argv: sh(show)}, {Argv: sh(show), Stdout: stdio.Hold},
		{Argv: sh(show), Capture: "both"}, {Argv: sh(show), Exec: true}} {
		d := run(t, o)
		if d.Stdout.String() != string(want) {
			t.Errorf("%+v: the command sees\n%s, without the program\n%s", o, d.Stdout.String(), want)
		}
	}
}

func TestStopWithoutATerminal(t *testing.T) {
	dir := t.TempDir()
	d := order(t, orders{Argv: sh("sleep 600 & echo $! >" + word(dir) + "/pid; touch " + word(dir) + "/up; wait")})
	d.start()
	pid := readPid(t, dir+"/pid")
	d.awaitCatching()
	d.kill(syscall.SIGTSTP)
	eventually(t, "both stopped", func() bool { return stateOf(pid) == "T" && stateOf(d.Process.Pid) == "T" })
	d.kill(syscall.SIGCONT)
	eventually(t, "both go on", func() bool { return stateOf(pid) == "S" && stateOf(d.Process.Pid) == "S" })
	d.kill(syscall.SIGTERM)
	d.wait()
	if d.end() != "signal: terminated" || lives(pid) {
		t.Errorf("%s; the child lives: %v", d.end(), lives(pid))
	}
}

func stateOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	return strings.Fields(rest)[0]
}

// TestManyProcessesInTheirOwnSessions: they end in less time than they begin, which is
// 100 ms on a machine that does nothing else. A busy one gets more, and more tries.
func TestManyProcessesInTheirOwnSessions(t *testing.T) {
	for range 5 {
		began, ended := endMany(t)
		t.Logf("begun in %v, ended after %v", began, ended)
		if ended <= time.Second+5*began {
			return
		}
	}
	t.Error("it takes too long each time")
}

// endMany returns what the beginning and the end of 200 sessions take.
func endMany(t *testing.T) (began, ended time.Duration) {
	t.Helper()
	dir := t.TempDir()
	script := `i=0; while [ $i -lt 200 ]; do setsid sleep 600 & i=$((i+1)); done; touch ` + word(dir) + `/up; sleep 600`
	d := order(t, orders{Argv: sh(script), KillAfter: 10 * time.Minute})
	begun := time.Now()
	d.start()
	d.await(dir + "/up")
	eventually(t, "all sessions", func() bool { return descendants(d.Process.Pid) >= 201 })
	began = time.Since(begun)
	begun = time.Now()
	d.kill(syscall.SIGTERM)
	d.wait()
	if d.end() != "signal: terminated" {
		t.Error(d.end())
	}
	return began, time.Since(begun)
}

// descendants counts the living processes below pid.
func descendants(pid int) (n int) {
	list, err := process.List()
	if err != nil {
		return 0
	}
	below := map[int]bool{pid: true}
	for range 8 { // as deep as the tests go
		for _, p := range list {
			below[p.Pid] = below[p.Pid] || below[p.Ppid]
		}
	}
	for _, p := range list {
		if below[p.Pid] && p.Pid != pid && !p.Dead {
			n++
		}
	}
	return n
}

func TestStatusesAreNotMixedUp(t *testing.T) {
	t.Parallel()
	attempts := tries.Of(150)
	// Each attempt leaves orphans that end at about the same time as it does.
	script := `(sleep 0.001 & sleep 0.002 &) ; (exit 9) & exit $(( RETRY_ATTEMPT % 100 + 1 ))`
	d := run(t, orders{Argv: sh(script), Attempts: attempts})
	all := d.outcomes()
	if len(all) != attempts {
		t.Fatalf("%d attempts", len(all))
	}
	for i, res := range all {
		if want := (i+1)%100 + 1; res.ExitCode != want || res.Err != "" {
			t.Errorf("attempt %d: %+v, want %d", i+1, res, want)
		}
	}
}

func TestZombiesAreReapedInWaits(t *testing.T) {
	dir := t.TempDir()
	d := order(t, orders{Argv: sh("(sleep 0.2 & sleep 0.3 &); exit 1"), Attempts: 2, Pause: 10 * time.Minute,
		Report: dir + "/report"})
	d.start()
	d.await(dir + "/report")
	eventually(t, "no child is left", func() bool {
		list, _ := process.List()
		for _, p := range list {
			if p.Ppid == d.Process.Pid {
				return false
			}
		}
		return true
	})
	d.kill(syscall.SIGTERM)
	d.wait()
}

func TestDeathTakesTheCommandAlong(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	d := order(t, orders{Argv: sh("echo $$ >" + word(pidFile) + "; exec sleep 600")})
	d.start()
	pid := readPid(t, pidFile)
	d.kill(syscall.SIGKILL)
	d.wait()
	eventually(t, "the command is dead", func() bool { return !lives(pid) })
}

// A process that the program only accompanies gets the signals that ask for the end, and the
// program goes on when it has ended.
func TestAccompany(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "": 0} {
		dir := t.TempDir()
		d := order(t, orders{Accompany: true, Argv: sh(counting(dir, "TERM HUP"))})
		d.start()
		d.await(dir + "/up")
		if sig != 0 {
			d.kill(sig)
			eventually(t, "the signal", func() bool { return got(t, dir) != "" })
		}
		touch(t, dir+"/end")
		want, end := `asked "SIG`+name+`"`, "exit status 0"
		if sig == 0 { // a signal that comes later is the program's
			want, end = `asked ""`, "signal: terminated"
			eventually(t, "the end of the process", func() bool { return len(contents(t, d.out)) > 0 })
			d.kill(syscall.SIGTERM)
		}
		d.wait()
		if text := strings.TrimSpace(d.Stdout.String()); text != want ||
			strings.Count(got(t, dir), "TERM") != min(1, int(sig)) || d.end() != end {
			t.Errorf("%s: %s, the process got %q, %s", name, text, got(t, dir), d.end())
		}
	}
}

// A signal goes to the process that was meant, and to none once that has ended
// or another one has its pid.
func TestSignalTo(t *testing.T) {
	d := order(t, orders{Argv: []string{"sleep", "100"}})
	d.start()
	if err := SignalTo(d.Process.Pid, func() bool { return false }, "SIGTERM"); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("another process: %v", err)
	}
	if err := SignalTo(d.Process.Pid, func() bool { return true }, "SIGNONE"); err == nil ||
		!strings.Contains(err.Error(), `no signal "SIGNONE"`) {
		t.Errorf("no such signal: %v", err)
	}
	if err := SignalTo(d.Process.Pid, func() bool { return true }, "SIGTERM"); err != nil {
		t.Error(err)
	}
	d.wait()
	if d.end() != "signal: terminated" {
		t.Error(d.end())
	}
	if err := SignalTo(d.Process.Pid, func() bool { return true }, "SIGTERM"); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after the end: %v", err)
	}
}
