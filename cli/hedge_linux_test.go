package cli

// This file hedges hundreds of commands that end in every way, under signals
// and kills.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/testdata/tries"
)

// hedged is what each copy runs. Its arguments are plans, DELAY:HOW, of which
// each copy of each attempt follows one: it sleeps, and then exits with the code
// HOW or dies by a signal; t in front of that has it heed no TERM, s leaves a
// process in a session of its own running beside it.
const hedged = `
echo $$ >>pids
id=$RETRY_ATTEMPT.$RETRY_COPY
ls /proc/self/fd >fds.$id
shift $(((RETRY_ATTEMPT * 5 + RETRY_COPY) % $#))
delay=${1%%:*} how=${1#*:}
case $how in t*) trap '' TERM; how=${how#t} ;; esac
case $how in s*) setsid sh -c 'echo $$ >>pids; exec sleep 60' >/dev/null 2>&1 & how=${how#s} ;; esac
seq -f "$id %g" 300
seq -f "$id %g" 300 >&2
sleep $delay
seq -f "$id %g" 301 600
case $how in [0-9]*) exit $how ;; esac
kill -$how $$
`

// descriptorsHook looks at what the program has open, some times and then until there is no
// more than the hook before has seen at its end: what starts the hook is closed late if the
// machine does not run the program.
const descriptorsHook = `
open() { ls /proc/$PPID/fd | wc -l; }
i=0
until [ $i -ge 4 ] && { [ $i -ge 400 ] || [ ! -e before ] || [ $(open) -le $(cat before) ]; }; do
	i=$((i + 1))
	sleep 0.01
	ls -l /proc/$PPID/fd
	echo
done >>own
ls -l /proc/$PPID/fd >>own
open >before
echo == >>own
`

// hedging is one run under test.
type hedging struct {
	t              *testing.T
	dir            string
	inherited      string // what every command has open
	words          []string
	stdout, stderr bytes.Buffer
	code           int // 128+n if a signal ended the program
}

// hedgeEvent is what the log says of a copy, or of the end.
type hedgeEvent struct {
	Event            string
	Attempt, Copy    int
	ExitCode         int `json:"exit_code"`
	Verdict, Outcome string
	Reason, RunID    string
}

// TestHedgeStress checks of each run: at most one copy's output is released, and
// all of it; the code and the log agree; each copy has one start and one end;
// every process is gone; no command has a descriptor more than its streams; the
// program itself has not one more after the last attempt than after the first.
func TestHedgeStress(t *testing.T) {
	runs := tries.Of(30)
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "retry")); err != nil {
		t.Skip(err)
	}
	inherited, err := command(t, "sh", "-c", "ls /proc/self/fd >fds; cat fds; rm fds").Output()
	if err != nil {
		t.Fatal(err)
	}
	var outcomes sync.Map
	var wg sync.WaitGroup
	places := make(chan struct{}, 4)
	for seed := range runs {
		wg.Add(1)
		places <- struct{}{}
		go func() {
			defer func() { <-places; wg.Done() }()
			h := &hedging{t: t, inherited: string(inherited), dir: filepath.Join(bin, strconv.Itoa(seed))}
			if h.run(filepath.Join(bin, "retry"), rand.New(rand.NewPCG(uint64(seed), 17))) {
				outcomes.Store(h.check(), true)
			} else {
				t.Errorf("run %d: %q did not end", seed, h.words)
			}
		}()
	}
	wg.Wait()
	for _, outcome := range []string{"succeeded", "exhausted", "cancelled"} {
		if _, seen := outcomes.Load(outcome); !seen {
			t.Errorf("no run was %s: the runs are too much alike", outcome)
		}
	}
}

// run runs one and reports whether it ended.
func (h *hedging) run(program string, r *rand.Rand) bool {
	if err := os.Mkdir(h.dir, 0o777); err != nil {
		h.t.Error(err)
		return false
	}
	ms := func(most int) string { return fmt.Sprintf("%dms", 1+r.IntN(most)) }
	h.words = []string{
		program, "-n", strconv.Itoa(1 + r.IntN(4)), "--base", "1ms", "--stdin", "null", "--kill-after", "50ms",
		"--hedge", ms(80), "--hedge-max", strconv.Itoa(1 + r.IntN(3)), "--log-file", "log", "--stop-on-exit", "9",
		"--kill-leftovers", "--before-retry", descriptorsHook,
	}
	if r.IntN(3) == 0 {
		h.words = append(h.words, "--timeout", ms(200))
	}
	if r.IntN(4) == 0 {
		h.words = append(h.words, "--deadline", ms(600))
	}
	h.words = append(h.words, "--", "sh", "-c", hedged, "sh")
	hows := []string{"0", "0", "1", "1", "3", "9", "KILL", "t0", "t1", "s1", "ts1"}
	for range 3 + r.IntN(4) {
		h.words = append(h.words, fmt.Sprintf("0.%03d:%s", r.IntN(200), hows[r.IntN(len(hows))]))
	}
	cmd := exec.Command(h.words[0], h.words[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = h.dir, &h.stdout, &h.stderr
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=10")
	if err := cmd.Start(); err != nil {
		h.t.Error(err)
		return false
	}
	after := time.Duration(r.IntN(400)) * time.Millisecond
	meddle, ended := h.meddle(cmd.Process.Pid, r), make(chan struct{})
	meddler := time.AfterFunc(after, func() { meddle(ended) })
	limit := time.AfterFunc(2*awaitLimit, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	meddler.Stop()
	close(ended)
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if h.code = status.ExitStatus(); status.Signaled() {
		h.code = 128 + int(status.Signal())
	}
	return limit.Stop()
}

// meddle returns what happens to a run from outside once a copy runs, unless it has ended:
// nothing, a signal to the program, or KILL to one of its commands.
func (h *hedging) meddle(pid int, r *rand.Rand) func(ended <-chan struct{}) {
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGQUIT}
	what, signal, which := r.IntN(4), signals[r.IntN(len(signals))], r.IntN(8)
	return func(ended <-chan struct{}) {
		pids := h.pids()
		for ; len(pids) == 0; pids = h.pids() {
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
		switch what {
		case 0:
			_ = syscall.Kill(pid, signal)
		case 1:
			_ = syscall.Kill(pids[which%len(pids)], syscall.SIGKILL)
		}
	}
}

// pids are the processes that the commands have written down.
func (h *hedging) pids() (pids []int) {
	text, _ := os.ReadFile(filepath.Join(h.dir, "pids"))
	for word := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// check checks what is left of a run, and returns its outcome.
func (h *hedging) check() string {
	errorf := func(format string, args ...any) {
		h.t.Helper()
		h.t.Errorf("run "+filepath.Base(h.dir)+": "+format+"\n%q", append(args, h.words)...)
	}
	for _, pid := range h.pids() {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			errorf("process %d is still there: %v", pid, err)
		}
	}
	for _, word := range []string{"DATA RACE", "panic", "goroutine "} {
		if strings.Contains(h.stderr.String(), word) {
			errorf("it says %s", h.stderr.String())
		}
	}
	files, _ := filepath.Glob(filepath.Join(h.dir, "fds.*"))
	for _, name := range files {
		if fds, err := os.ReadFile(name); err != nil || len(fds) > 0 && string(fds) != h.inherited {
			errorf("a command has the descriptors %q, %v; without the program it has %q", fds, err, h.inherited)
		}
	}
	own, _ := os.ReadFile(filepath.Join(h.dir, "own"))
	hooks := strings.Split(strings.TrimSuffix(string(own), "==\n"), "==\n")
	if first, last := descriptors(hooks[0]), descriptors(hooks[len(hooks)-1]); last > first {
		errorf("the program has %d descriptors after the first attempt, %d after the last one that is followed "+
			"by another:\n%s", first, last, own)
	}
	return h.checkLog(errorf)
}

// descriptors counts what the program has open, by the least of what a hook saw:
// what is open for a moment, to start the hook or to look into /proc, is not
// counted, nor the pidfd by which the hook is awaited.
func descriptors(hook string) int {
	least := math.MaxInt
	for sample := range strings.SplitSeq(strings.TrimSpace(hook), "\n\n") {
		least = min(least, strings.Count(sample, " -> ")-strings.Count(sample, " -> /proc/")-min(1,
			strings.Count(sample, "[pidfd]")))
	}
	return least
}

// checkLog checks the events against one another, the exit code and the output.
func (h *hedging) checkLog(errorf func(string, ...any)) string {
	text, _ := os.ReadFile(filepath.Join(h.dir, "log"))
	var last hedgeEvent
	var winners, running []string
	for line := range strings.Lines(string(text)) {
		last = hedgeEvent{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			errorf("%v in %q", err, line)
		}
		id := fmt.Sprintf("%d.%d", last.Attempt, last.Copy)
		switch last.Event {
		case "attempt_started":
			running = append(running, id)
		case "attempt_finished", "attempt_cancelled":
			at := slices.Index(running, id)
			if at < 0 {
				errorf("copy %s has ended twice", id)
				continue
			}
			running = slices.Delete(running, at, at+1)
			if last.Event == "attempt_finished" && last.Verdict == "" {
				winners = append(winners, id)
			}
		case "retry_scheduled", "run_finished":
			if len(running) > 0 {
				errorf("%s while %v run", last.Event, running)
			}
		}
	}
	if last.Event != "run_finished" || last.ExitCode != h.code {
		errorf("it ends with %d, and its log with %+v", h.code, last)
	}
	if (last.Outcome == "succeeded") != (len(winners) == 1) || len(winners) > 1 {
		errorf("outcome %s, winners %v", last.Outcome, winners)
	}
	h.checkOutput(winners, last.Outcome, errorf)
	return last.Outcome
}

// checkOutput: what is released is all that one copy wrote. One that dealt with a
// signal and exited 0 is released as well.
func (h *hedging) checkOutput(winners []string, outcome string, errorf func(string, ...any)) {
	id, _, _ := strings.Cut(h.stdout.String(), " ")
	var want strings.Builder
	for i := range 600 {
		fmt.Fprintf(&want, "%s %d\n", id, i+1)
	}
	switch {
	case h.stdout.Len() == 0 && (len(winners) == 0 && h.code != 0 || outcome == "cancelled"):
	case h.code != 0 || len(winners) == 0 && outcome != "cancelled":
		errorf("exit %d, winners %v, and %d bytes of output", h.code, winners, h.stdout.Len())
	case len(winners) == 1 && id != winners[0] || h.stdout.String() != want.String():
		errorf("winner %v, and the output is %q", winners, h.stdout.String())
	}
}
