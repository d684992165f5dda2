//go:build unix

package proc

// This file tests attempts beside one another.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/testdata/late"
	"github.com/retrysh/retry/testdata/tries"
)

// driveCopies runs the same command several times at once.
func driveCopies(o *orders, listening *Signals) int {
	r := New(Config{Stdin: o.Stdin, KillAfter: o.KillAfter}, listening)
	attempts := make([]attempt.Attempt, o.Copies)
	for n := range attempts {
		attempts[n] = r.Start(context.Background(), attempt.Spec{
			Copy: n, Argv: o.Argv, Env: append(o.Env, fmt.Sprintf("RETRY_COPY=%d", n)), Streams: attempt.Held,
			Timeout: o.Timeout,
		})
	}
	results := make([]attempt.Result, o.Copies)
	var all sync.WaitGroup
	for n, a := range attempts {
		all.Go(func() { results[n] = a.Wait() })
	}
	all.Wait()
	for n, a := range attempts {
		record(o, results[n], "", "", nil)
		if n > 0 {
			a.Drop()
		} else if err := a.Settle(true); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return results[0].ExitCode
}

func TestEachCopyGetsEverySignalOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := `trap 'echo USR1 >>` + word(dir) + `/got$RETRY_COPY' USR1; trap 'echo TERM >>` + word(dir) +
		`/got$RETRY_COPY; seen=1' TERM
		echo x >>` + word(dir) + `/up$RETRY_COPY; until [ "$seen" ]; do sleep 0.01; done; echo copy $RETRY_COPY; exit ` +
		`$((RETRY_COPY + 3))`
	d := order(t, orders{Argv: sh(script), Copies: 3})
	d.start()
	for n := range 3 {
		d.await(fmt.Sprintf("%s/up%d", dir, n))
	}
	d.awaitCatching()
	const often = 20
	for i := 1; i <= often; i++ {
		d.kill(syscall.SIGUSR1)
		eventually(t, "the signal in each copy", func() bool {
			for n := range 3 {
				text, _ := os.ReadFile(fmt.Sprintf("%s/got%d", dir, n))
				if strings.Count(string(text), "USR1") < i {
					return false
				}
			}
			return true
		})
	}
	d.kill(syscall.SIGTERM)
	d.wait()
	for n, res := range d.outcomes() {
		if res.ExitCode != n+3 || res.Cancelled != "SIGTERM" {
			t.Errorf("copy %d: %+v", n, res)
		}
		text, _ := os.ReadFile(fmt.Sprintf("%s/got%d", dir, n))
		if strings.Count(string(text), "USR1") != often || strings.Count(string(text), "TERM") != 1 {
			t.Errorf("copy %d got %q", n, text)
		}
	}
	if d.Stdout.String() != "copy 0\n" {
		t.Errorf("released is %q", d.Stdout.String())
	}
}

func TestCopiesStopAndGoOnTogether(t *testing.T) {
	dir := t.TempDir()
	script := `echo $$ >` + word(dir) + `/pid$RETRY_COPY; while ! [ -e ` + word(dir) + `/end ]; do :; done`
	d := order(t, orders{Argv: sh(script), Copies: 2})
	d.start()
	pids := []int{readPid(t, dir+"/pid0"), readPid(t, dir+"/pid1")}
	d.awaitCatching()
	d.kill(syscall.SIGTSTP)
	eventually(t, "all stopped", func() bool {
		return stateOf(pids[0]) == "T" && stateOf(pids[1]) == "T" && stateOf(d.Process.Pid) == "T"
	})
	d.kill(syscall.SIGCONT)
	eventually(t, "both go on", func() bool { return stateOf(pids[0]) == "R" && stateOf(pids[1]) == "R" })
	touch(t, dir+"/end")
	d.wait()
	if d.end() != "exit status 0" {
		t.Error(d.end())
	}
}

func TestCopiesReadTheSameInput(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 1<<17) // 2 MiB: memory, then a file
	dir := t.TempDir()
	// The second begins late and reads slowly.
	script := `[ $RETRY_COPY = 0 ] || sleep 0.1; cat | cksum >` + word(dir) + `/sum$RETRY_COPY`
	want, err := exec.Command("sh", "-c", "yes 0123456789abcde | head -n 131072 | cksum").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := tempFile(t)
	_, _ = file.WriteString("skipped" + text)
	for _, kind := range []string{"a pipe", "a file"} {
		d := order(t, orders{Argv: sh(script), Copies: 2, Stdin: stdio.Replay})
		d.Stdin = strings.NewReader(text)
		if kind == "a file" {
			_, _ = file.Seek(7, 0)
			d.Stdin = file
		}
		d.start()
		d.wait()
		for n := range 2 {
			if got, _ := os.ReadFile(fmt.Sprintf("%s/sum%d", dir, n)); string(got) != string(want) {
				t.Errorf("copy %d, from %s: %q, want %q", n, kind, got, want)
			}
		}
	}
}

func TestHooksStandAside(t *testing.T) {
	for streams, want := range map[attempt.Streams][2]string{attempt.Aside: {"", "0\nout\nerr\n"},
		attempt.Instead: {"0\nout\n", "err\n"}} {
		d := order(t, orders{Argv: sh("wc -c | tr -d ' '; echo out; echo err >&2"), Streams: streams,
			Stdout: stdio.Hold, Stdin: stdio.Replay})
		d.Stdin = strings.NewReader("text")
		d.start()
		d.wait()
		if got := [2]string{d.Stdout.String(), d.Stderr.String()}; got != want {
			t.Errorf("%v: %q, want %q", streams, got, want)
		}
	}
	// A signal is not the hook's: it counts as in a wait.
	dir := t.TempDir()
	d := order(t, orders{Argv: sh(counting(dir, "TERM")), Streams: attempt.Aside, Attempts: 2, Pause: 10 * time.Minute})
	d.signalWhen(dir+"/up", syscall.SIGTERM)
	time.Sleep(20 * time.Millisecond) // for a wrong delivery to show
	touch(t, dir+"/end")
	d.wait()
	if g := got(t, dir); g != "" || d.only().Cancelled != "" || d.end() != "signal: terminated" {
		t.Errorf("the hook got %q; %+v; %s", g, d.only(), d.end())
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"echo begun; sleep 600", "exec >&- 2>&-; sleep 600"} {
		const limit = time.Second
		d := run(t, orders{Argv: sh(script), Idle: limit, KillAfter: time.Second})
		if res := d.only(); !res.Idle || !res.TimedOut || res.ExitCode != 124 || res.Duration < limit {
			t.Errorf("%s: %+v", script, res)
		}
	}
}

// A command that writes now and then is not idle, however long it runs.
func TestNotIdle(t *testing.T) {
	t.Parallel()
	late.Retry(t, time.Second, func(limit time.Duration) (slow bool) {
		end := t.TempDir() + "/end"
		d := order(t, orders{Argv: sh("while ! [ -e " + word(end) +
			" ]; do echo >&$((1 + i % 2)); sleep 0.03; i=$((i+1)); done; exit 3"), Idle: limit, KillAfter: time.Second})
		begun := time.Now()
		d.start()
		size, grown := int64(0), begun
		for !slow && time.Since(begun) < limit+limit/4 {
			out, err1 := d.out.Stat()
			errs, err2 := d.err.Stat()
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			slow = time.Since(grown) >= limit/2 // half of it, since this is seen later than it is written
			if now := out.Size() + errs.Size(); now > size {
				size, grown = now, time.Now()
			}
			time.Sleep(2 * time.Millisecond)
		}
		touch(t, end)
		d.wait()
		slow = slow || time.Since(grown) >= limit/2
		if res := d.only(); !slow && (res.Idle || res.TimedOut || res.ExitCode != 3 || res.Duration < limit) {
			t.Errorf("%+v", res)
		}
		return slow
	})
}

// A command that waits for the reader of what it has written is not idle.
func TestIdleIsNotWaitingForTheReader(t *testing.T) {
	t.Parallel()
	late.Retry(t, 200*time.Millisecond, func(limit time.Duration) (slow bool) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		d := order(t, orders{Argv: sh("head -c 1000000 /dev/zero; exit 3"), Idle: limit})
		d.Cmd.Stdout = w
		begun := time.Now()
		d.start()
		_ = w.Close()
		first, _ := r.Read(make([]byte, 1)) // none if it was idle until then
		slow = time.Since(begun) >= limit
		time.Sleep(3 * limit) // the pipes are full
		begun = time.Now()
		rest, err := io.Copy(io.Discard, r)
		d.wait()
		slow = slow || time.Since(begun) >= limit
		if n, res := int64(first)+rest, d.only(); !slow && (res.Idle || res.ExitCode != 3 || n != 1000000) {
			t.Errorf("%d bytes, %v, %+v", n, err, res)
		}
		return slow
	})
}

// round is one of driveRounds: two commands, each with an orphan in a session of
// its own, one of which may be ended early.
type round struct {
	dir     string
	code    [2]int
	lost    int // which is ended early, -1 for none
	between time.Duration
	after   time.Duration
}

// TestTwoAtATime: whatever the moments at which two attempts start and end, and
// one of them is ended, each has its own status, output and orphans, and both
// read the same input.
func TestTwoAtATime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("takes a child subreaper and /proc")
	}
	rounds := tries.Of(40)
	if raceEnabled {
		rounds = tries.Of(500)
	}
	d := order(t, orders{Rounds: rounds, Stdin: stdio.Replay, KillAfter: 10 * time.Second})
	d.limit = 5 * time.Minute
	d.Stdin = strings.NewReader("the same input\n")
	d.start()
	d.wait()
	if d.end() != "exit status 0" || strings.Count(d.Stderr.String(), "round ") > 0 {
		t.Errorf("%s; %.3000s", d.end(), d.Stderr.String())
	}
	if n := strings.Count(d.Stdout.String(), "read the same input"); n < rounds {
		t.Errorf("%d outputs in %d rounds", n, rounds)
	}
}

func driveRounds(o *orders, listening *Signals) int {
	dir, err := os.MkdirTemp("", "rounds")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	r := New(Config{Stdin: o.Stdin, KillAfter: o.KillAfter}, listening)
	random := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	wrong := 0
	for n := range o.Rounds {
		turn := round{
			dir: filepath.Join(dir, fmt.Sprint(n)), code: [2]int{random.IntN(100), random.IntN(100)},
			lost:    random.IntN(3) - 1,
			between: time.Duration(random.IntN(6)) * time.Millisecond,
			after:   time.Duration(random.IntN(25)) * time.Millisecond,
		}
		if err := turn.run(r, o.Env); err != nil {
			fmt.Fprintf(os.Stderr, "round %d, %+v: %v\n", n, turn, err)
			wrong = 1
		}
	}
	return wrong
}

const copyScript = `(setsid sh -c 'echo $$ >$DIR/orphan$RETRY_COPY; exec sleep 30' >/dev/null 2>&1 &)
until [ -s "$DIR/orphan$RETRY_COPY" ]; do sleep 0.002; done
read input; echo "copy $RETRY_COPY read $input"
[ $LOST = $RETRY_COPY ] && sleep 30
exit $CODE`

func (turn round) run(r *Runner, env []string) error {
	if err := os.Mkdir(turn.dir, 0o700); err != nil {
		return err
	}
	var attempts [2]attempt.Attempt
	var results [2]attempt.Result
	var ended sync.WaitGroup
	var cancel [2]context.CancelCauseFunc
	for n := range attempts {
		ctx, end := context.WithCancelCause(context.Background())
		cancel[n] = end
		defer end(nil)
		attempts[n] = r.Start(ctx, attempt.Spec{Copy: n, Argv: sh(copyScript), Streams: attempt.Held, Env: append(env,
			"RETRY_ATTEMPT="+filepath.Base(turn.dir), fmt.Sprintf("RETRY_COPY=%d", n), "DIR="+turn.dir,
			fmt.Sprintf("LOST=%d", turn.lost), fmt.Sprintf("CODE=%d", turn.code[n]))})
		ended.Go(func() { results[n] = attempts[n].Wait() })
		time.Sleep(turn.between)
	}
	if turn.lost >= 0 {
		time.Sleep(turn.after)
		cancel[turn.lost](attempt.ErrLost)
	}
	ended.Wait()
	var wrong []error
	for n, res := range results {
		wrong = append(wrong, turn.check(n, res))
		if n == turn.lost {
			attempts[n].Drop()
		} else {
			wrong = append(wrong, attempts[n].Settle(true))
		}
	}
	return errors.Join(wrong...)
}

// check checks one result, and what lives of the attempt: all of its orphans, or
// nothing if it was ended.
func (turn round) check(n int, res attempt.Result) error {
	marks := []string{"RETRY_ATTEMPT=" + filepath.Base(turn.dir), fmt.Sprintf("RETRY_COPY=%d", n), "DIR=" + turn.dir}
	list, err := process.List()
	if err != nil {
		return err
	}
	var alive []int
	for _, p := range list {
		if !p.Dead && process.HasInEnvironment(p.Pid, marks) {
			alive = append(alive, p.Pid)
			kill(p.Pid)
		}
	}
	if n == turn.lost {
		if res.Signal != "SIGTERM" || res.Err != nil || res.TimedOut || len(alive) > 0 {
			return fmt.Errorf("copy %d was ended: %+v, alive %v", n, res, alive)
		}
		return nil
	}
	if res.ExitCode != turn.code[n] || res.Signal != "" || res.Err != nil || len(alive) != 1 {
		pid, _ := os.ReadFile(fmt.Sprintf("%s/orphan%d", turn.dir, n))
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		return fmt.Errorf("copy %d: %+v, alive %v, its orphan is %s: %.60s %v", n, res, alive, pid, stat, err)
	}
	return nil
}

func TestTheContextEndsAnAttempt(t *testing.T) {
	t.Parallel()
	for _, atOnce := range []bool{false, true} {
		late.Retry(t, 300*time.Millisecond, func(limit time.Duration) (slow bool) {
			dir := t.TempDir()
			d := order(t, orders{
				Argv: sh("trap 'echo TERM >" + word(dir) + "/got' TERM; touch " + word(dir) +
					"/up; (trap '' TERM; sleep 600) & while :; do sleep 0.01; done"),
				Cancel: limit, AtOnce: atOnce, KillAfter: limit,
			})
			slow = !d.startsWithin(limit, dir+"/up")
			d.wait()
			res := d.only()
			if res.Err != "no more of this" || res.ExitCode != 125 || res.TimedOut {
				t.Errorf("at once %v: %+v", atOnce, res)
			}
			asked := got(t, dir) != ""
			if !slow && (res.Signal != "SIGKILL" || asked && atOnce || !atOnce && res.Duration < 2*limit) {
				t.Errorf("at once %v: asked %v, took %v, %+v", atOnce, asked, res.Duration, res)
			}
			return slow || !atOnce && !asked // it was killed before its trap ran
		})
	}
}

func TestInheritedDescriptor(t *testing.T) {
	file := t.TempDir() + "/file"
	d := run(t, orders{Argv: sh(`exec 9>&1; eval "echo attempt $RETRY_ATTEMPT >&$FD"; exit 3`), Inherit: file,
		Attempts: 2})
	if text, _ := os.ReadFile(file); string(text) != "attempt 2\n" || len(d.outcomes()) != 2 {
		t.Errorf("%q", text)
	}
}
