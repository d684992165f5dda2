//go:build linux

package main

// This file holds the measurements.

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// usual is the call that the README begins with.
var usual = strings.Fields("--attempts 5 --base 100ms --cap 30s --jitter full --on-exit 75,111 --")

func (b *bench) startUp() {
	truth := b.peer("true")
	fmt.Printf("\nstart-up, in units of the smallest Go program that starts a command\n")
	guarded := []string{
		"--key", "k", "--store", "file:" + filepath.Join(b.dir, "state"), "--breaker", "50%", "--budget", "10%", "--",
	}
	compare(b.rounds, []*contest{
		{label: "floor true", argv: []string{b.floor, truth}},
		{label: "retry -- true", argv: []string{b.retry, "--", truth}},
		{
			label: "retry " + strings.Join(usual, " ")[:40] + "... true",
			argv:  slices.Concat([]string{b.retry}, usual, []string{truth}),
		},
		{
			label: "retry --key k --breaker 50% --budget 10% -- true",
			argv:  slices.Concat([]string{b.retry}, guarded, []string{truth}),
		},
	})
	fmt.Printf("\nstart-up, in units of timeout 10 true\n")
	var list []*contest
	add := func(label, program string, args ...string) {
		if program != "" {
			list = append(list, &contest{label: label, argv: append(append([]string{program}, args...), truth)})
		}
	}
	add("timeout 10 true", b.peer("timeout"), "10")
	add("retry -- true", b.retry, "--")
	add("retry "+strings.Join(usual, " ")[:40]+"... true", b.retry, usual...)
	add("retry --timeout 10s -- true", b.retry, "--timeout", "10s", "--")
	add("retry --classify smart -- true", b.retry, "--classify", "smart", "--")
	add("env true", b.peer("env"))
	add("Debian's retry true", debian(b.peer("retry")))
	add("recur true", b.peer("recur"))
	add("attempt true", b.peer("attempt"))
	compare(b.rounds, list)
}

// debian returns path if it is Debian's C program of that name, "" otherwise.
func debian(path string) string {
	if path == "" {
		return ""
	}
	help, _ := exec.Command(path, "--help").CombinedOutput()
	if !strings.Contains(string(help), "--until") {
		return ""
	}
	return path
}

func (b *bench) streams() {
	log := filepath.Join(b.dir, "log")
	b.writeLog(log)
	script := func(text string) []string { return []string{"/bin/sh", "-c", text} }
	var sixty []string
	for _, pattern := range patterns {
		sixty = append(sixty, "--on-stderr", pattern)
	}
	const toStderr = `exec cat "$0" >&2`
	fmt.Printf("\n%d MiB of log lines on standard error\n", b.size>>20)
	reading := func(flags ...string) []string {
		return slices.Concat([]string{b.retry}, flags, []string{"--", "/bin/sh", "-c", toStderr, log})
	}
	intoPipe := []string{"/bin/sh", "-c", `"$@" 2>&1 | cat`, "sh"}
	compare(5, []*contest{
		{label: "cat log | cat", argv: script("cat " + log + " | cat")},
		{label: "retry, 60 patterns", argv: reading(sixty...)},
		{label: "retry, a pattern without a literal", argv: reading("--on-stderr", `[a-f0-9]{32}`)},
		{label: "retry --classify smart", argv: reading("--classify", "smart")},
		{label: "retry, 60 patterns, into a pipe", argv: append(intoPipe, reading(sixty...)...)},
	})
	if peer := debian(b.peer("retry")); peer != "" {
		fmt.Printf("\n%d MiB held until the command has succeeded\n", b.size>>20)
		compare(3, []*contest{
			{label: "Debian's retry", argv: []string{peer, "cat", log}},
			{label: "retry --stdout hold", argv: []string{b.retry, "--stdout", "hold", "--", "cat", log}},
		})
	}
}

// patterns are sixty of the kind that a careful user looks for.
var patterns = strings.Split(strings.TrimSpace(`connection refused
(?i)connection reset by peer
(?i)timed?[ -]?out
Temporary failure in name resolution
Could not resolve host
(?i)too many requests
HTTP/[0-9.]+ 50[0234]
(?i)service unavailable
Bad Gateway
(?i)gateway time-?out
no route to host
Network is unreachable
TLS handshake timeout
unexpected EOF
broken pipe
(?i)deadlock (detected|found)
could not serialize access
(?i)lock wait timeout
database is locked
(?i)rate limit(ed)? exceeded
ThrottlingException
RequestLimitExceeded
SlowDown
ProvisionedThroughputExceeded
ECONNRESET
ECONNREFUSED
ETIMEDOUT
EAI_AGAIN
socket hang up
(?i)internal server error
i/o timeout
context deadline exceeded
(?i)try again later
Resource temporarily unavailable
(?i)remote end hung up
RPC failed; (curl|HTTP)
early EOF
Failed to fetch
Hash Sum mismatch
Could not get lock /var/lib
Unable to acquire the dpkg
permission denied
(?i)authentication failed
Access Denied
(?i)invalid credentials
No such file or directory
command not found
unknown flag: --\S+
(?i)syntax error
No space left on device
Read-only file system
certificate (has expired|signed by unknown)
x509:
404 Not Found
(?i)forbidden
Unauthorized
toomanyrequests:
(?i)quota exceeded
leader (changed|election)
etcdserver: .* timed out`), "\n")

// writeLog fills a file with lines like those of a build or a service, none of
// which matches.
func (b *bench) writeLog(name string) {
	file, err := os.Create(name)
	check(err)
	rng := rand.New(rand.NewPCG(1, 1))
	forms := []string{
		"2026-07-14T%02d:%02d:%02dZ INFO  worker[%d] processed batch %d of orders in %d ms, queue depth %d\n",
		"%02d:%02d:%02d.%03d DEBUG net.http.client GET /api/v1/items/%d -> 200 (%d bytes) %d\n",
		"  CC      drivers/net/ethernet/intel/ice/ice_%02d_%02d_%02d.o %d %d %d %d\n",
		"%02d/%02d/%02d %d: downloading https://registry.example.test/pkg/left-pad/-/left-pad-%d.%d.%d.tgz\n",
	}
	var block strings.Builder
	for block.Len() < 8<<20 {
		fmt.Fprintf(&block, forms[rng.IntN(len(forms))], rng.IntN(24), rng.IntN(60), rng.IntN(60),
			rng.IntN(1000), rng.IntN(100000), rng.IntN(1000), rng.IntN(90))
	}
	for left := b.size; left > 0; left -= int64(block.Len()) {
		_, err := file.WriteString(block.String()[:min(left, int64(block.Len()))])
		check(err)
	}
	check(file.Close())
}

// asleep looks at a program that waits, and at one whose command runs.
func (b *bench) asleep() {
	fmt.Printf("\nmemory and wake-ups without a terminal\n")
	fmt.Printf("%-52s %10s %10s %12s\n", "", "peak", "private", "wake-ups/2s")
	show := func(label string, argv ...string) {
		cmd := start(nil, argv...)
		time.Sleep(time.Second)
		pid := cmd.Process.Pid
		before := switches(pid)
		time.Sleep(2 * time.Second)
		woken := switches(pid) - before
		private := status(pid, "smaps_rollup", "Anonymous") // pages of the file are shared by all that run it
		fmt.Printf("%-52s %7d kB %7d kB %12d\n", label, status(pid, "status", "VmHWM"), private, woken)
		check(cmd.Process.Signal(syscall.SIGTERM))
		_ = cmd.Wait()
	}
	show("retry, in a wait of 60 s", b.retry, "-q", "--base", "60s", "--cap", "60s", "--jitter", "none", "--", "false")
	show("retry, while its command sleeps", b.retry, "--", "sleep", "60")
	if timeout := b.peer("timeout"); timeout != "" {
		show("timeout, while its command sleeps", timeout, "60", "sleep", "60")
	}
}

// switches is how often the threads of a process have gone to sleep.
func switches(pid int) (n int64) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	check(err)
	for _, task := range tasks {
		n += status(pid, "task/"+filepath.Base(task)+"/status", "voluntary_ctxt_switches")
	}
	return n
}

// receiverArg makes this program a command that prints when a signal has come.
const receiverArg = "receive-signals"

func receive() {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGUSR2)
	fmt.Println("ready")
	for range c {
		fmt.Println(time.Now().UnixNano())
	}
}

func (b *bench) signals() {
	self, err := os.Executable()
	check(err)
	fmt.Printf("\nsignals\n%-52s %9s %9s\n", "", "median", "p99")
	pair := func(label string, samples []float64) {
		fmt.Printf("%-52s %7.2fms %7.2fms\n", label, 1e3*median(samples), 1e3*quantile(samples, 0.99))
	}
	pair("from USR2 to the command's handler, directly", latencies(self, receiverArg))
	pair("from USR2 to the command's handler, through retry", latencies(b.retry, "--", self, receiverArg))
	var ends []float64
	for range 200 {
		cmd := start(nil, b.retry, "-q", "--base", "60s", "--cap", "60s", "--jitter", "none", "--", "false")
		time.Sleep(30 * time.Millisecond) // by then it waits
		begun := time.Now()
		check(cmd.Process.Signal(syscall.SIGINT))
		_ = cmd.Wait()
		ends = append(ends, time.Since(begun).Seconds())
	}
	pair("from INT in a wait to the end", ends)
}

// latencies sends signals to argv, one after the other.
func latencies(argv ...string) (samples []float64) {
	r, w, err := os.Pipe()
	check(err)
	cmd := start(w, argv...)
	check(w.Close())
	lines := bufio.NewScanner(r)
	lines.Scan()
	time.Sleep(50 * time.Millisecond) // USR2 is caught when the command is some ms old
	for range 100 {
		sent := time.Now().UnixNano()
		check(cmd.Process.Signal(syscall.SIGUSR2))
		if !lines.Scan() {
			check(io.ErrUnexpectedEOF)
		}
		var at int64
		_, err := fmt.Sscan(lines.Text(), &at)
		check(err)
		samples = append(samples, float64(at-sent)/1e9)
		time.Sleep(110 * time.Millisecond) // the same signal within 100 ms counts once
	}
	check(cmd.Process.Kill())
	_ = cmd.Wait()
	return samples
}

// failures are what an attempt costs that fails at once, and a run with one of them.
func (b *bench) failures() {
	const times, turns = "500", 31
	lie := b.peer("false")
	fmt.Printf("\n%s attempts of a command that fails at once, in units of the smallest loop\n", times)
	several := []*contest{
		{label: "loop " + times + " false", argv: []string{b.loop, times, lie}},
		{
			label: "retry -n " + times + " --base 0 false",
			argv:  []string{b.retry, "-q", "-n", times, "--base", "0", "--", lie},
		},
	}
	if recur := b.peer("recur"); recur != "" {
		argv := []string{recur, "-a", times, "-b", "0s", lie}
		several = append(several, &contest{label: "recur -a " + times + " -b 0s false", argv: argv})
	}
	compare(turns, several)
	fmt.Printf("\na run with one failed attempt, in units of the smallest loop\n")
	compare(b.rounds, []*contest{
		{label: "loop 1 false", argv: []string{b.loop, "1", lie}},
		{label: "retry -n 1 false", argv: []string{b.retry, "-q", "-n", "1", "--", lie}},
	})
}

// attempts compares the first thousand attempts with a hundred times as many.
func (b *bench) attempts() {
	fmt.Printf("\nattempts of a command that fails at once\n%-52s %12s %10s\n", "", "per attempt", "peak")
	truth := b.peer("false")
	for _, n := range []int{1000, 10000, 100000} {
		var peaks []int64
		begun := time.Now()
		cmd := start(nil, b.retry, "-q", "-n", fmt.Sprint(n), "--base", "0", "--", truth)
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		for running := true; running; {
			select {
			case <-ended:
				running = false
			case <-time.After(50 * time.Millisecond):
				if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)); err == nil &&
					strings.Contains(string(data), "VmHWM") {
					peaks = append(peaks, status(cmd.Process.Pid, "status", "VmHWM"))
				}
			}
		}
		fmt.Printf("%-52s %10.3fms %7d kB\n", fmt.Sprint(n), time.Since(begun).Seconds()*1e3/float64(n),
			slices.Max(append(peaks, 0)))
	}
}
