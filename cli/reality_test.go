package cli

// This file holds the simulation to reality: a server on loopback that is away
// and then takes so many calls a second, and many real runs of the program.

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retrysh/retry/cli/show"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/simulate"
)

// outageServer answers calls as the model says: the first of each client fail
// together when all have come, which is the moment 0.
type outageServer struct {
	simulate.Outage
	mu    sync.Mutex
	first []net.Conn // those that wait for the moment 0
	zero  time.Time
	idle  time.Time // when it has done all that it has admitted
	calls int
}

// serve answers until the listener is closed.
func (s *outageServer) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if s.hold(c) {
			continue
		}
		go func() {
			defer c.Close()
			answer, after := s.take(time.Now())
			time.Sleep(after)
			fmt.Fprintln(c, answer)
		}()
	}
}

// hold keeps the first calls until the last of them has come.
func (s *outageServer) hold(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.calls > s.Clients {
		return false
	}
	if s.first = append(s.first, c); s.calls == s.Clients {
		s.zero = time.Now()
		for _, c := range s.first {
			fmt.Fprintln(c, "no")
			c.Close()
		}
	}
	return true
}

// take says what comes of a call that begins now, and when.
func (s *outageServer) take(now time.Time) (string, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.zero) < s.Down {
		return "no", s.AttemptTime
	}
	served := now
	if s.idle.After(now) {
		served = s.idle
	}
	if served.Sub(now) > s.Queue {
		return "no", s.AttemptTime
	}
	s.idle = served.Add(time.Duration(float64(time.Second) / s.Capacity))
	return "yes", served.Sub(now) + s.AttemptTime
}

// TestSimulationIsReal compares 200 runs with the mean of simulations of them.
// Their figures differ by 1 to 4 % between seeds, and 15 % are allowed. A loaded machine adds
// tens of milliseconds to each of seven attempts, in ten seconds, and more than that if it
// has no time left: then nothing is compared. The test measures time, so that it is run only
// if it is asked for, as the nightly workflow does.
func TestSimulationIsReal(t *testing.T) {
	if os.Getenv("RETRY_TEST_TIMED") == "" {
		t.Skip("compares times: set RETRY_TEST_TIMED=1")
	}
	if runtime.GOOS == "windows" {
		t.Skip("bash opens connections by /dev/tcp; here is none")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	bin := filepath.Join(t.TempDir(), "retry")
	if err := goBuild(bin, ".."); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if files, needed := openFiles(t), 1000; files < needed {
		t.Skipf("needs %d open files; the limit is %d", needed, files)
	}
	s := &outageServer{Outage: simulate.Outage{
		Clients: 200, Capacity: 40, Down: 8 * time.Second, AttemptTime: 50 * time.Millisecond, Queue: time.Second,
	}}
	go s.serve(l)
	words := []string{"-n", "20", "--base", "1s", "--cap", "4s", "--jitter", "full", "--", bash, "-c",
		`read -r answer </dev/tcp/127.0.0.1/` + strconv.Itoa(l.Addr().(*net.TCPAddr).Port) + ` && [ "$answer" = yes ]`}
	idle := idleShare()
	ended := runMany(t, s.Clients, bin, words)
	left := idle()
	s.mu.Lock()
	defer s.mu.Unlock()
	var took []time.Duration
	for _, at := range ended {
		took = append(took, at.Sub(s.zero))
	}
	slices.Sort(took)
	o, err := read(words, nil)
	if err != nil {
		t.Fatal(err)
	}
	var herds []simulate.Herd
	for stream := range 20 {
		herds = append(herds, s.Run(o.Policy, guard.Guards{}, show.Random(o, uint64(stream)).Float64))
	}
	off := 0.0
	compare := func(what string, got, want float64) {
		t.Logf("%s %.3g, in the simulation %.3g: %+.1f %%", what, got, want, 100*(got/want-1))
		off = max(off, math.Abs(got/want-1))
	}
	compare("calls", float64(s.calls), meanOf(herds, func(h *simulate.Herd) float64 { return float64(h.Calls) }))
	real := simulate.Herd{Finished: len(took), FinishedAt: took}
	for _, share := range []float64{0.25, 0.5, 0.75, 0.99, 1} {
		at := func(h *simulate.Herd) float64 { return time.Duration(*h.Quantile(share)).Seconds() }
		compare(fmt.Sprintf("%v of the runs finished after", share), at(&real), meanOf(herds, at))
	}
	switch {
	case off <= 0.15:
	case left < 0.25:
		t.Skipf("the machine was %.0f %% idle: each attempt takes longer than the model says", 100*left)
	default:
		t.Error("that is too far apart")
	}
}

// openFiles is how many files a process may have open.
func openFiles(t *testing.T) int {
	t.Helper()
	out, err := command(t, "sh", "-c", "ulimit -n").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil { // unlimited
		return math.MaxInt
	}
	return files
}

// idleShare returns a function that returns which share of the processors' time was idle since
// then, 1 if the system does not say (proc_stat(5)).
func idleShare() func() float64 {
	read := func() (idle, all float64) {
		stat, _ := os.ReadFile("/proc/stat")
		line, _, _ := strings.Cut(string(stat), "\n")
		for i, field := range strings.Fields(line) {
			ticks, err := strconv.ParseFloat(field, 64)
			if all += ticks; err == nil && (i == 4 || i == 5) { // idle, iowait
				idle += ticks
			}
		}
		return idle, all
	}
	idle, all := read()
	return func() float64 {
		nowIdle, nowAll := read()
		if nowAll == all {
			return 1
		}
		return (nowIdle - idle) / (nowAll - all)
	}
}

func meanOf(herds []simulate.Herd, figure func(*simulate.Herd) float64) float64 {
	sum := 0.0
	for i := range herds {
		sum += figure(&herds[i])
	}
	return sum / float64(len(herds))
}

// runMany starts the runs together, and returns when each ended. All must
// succeed.
func runMany(t *testing.T, n int, program string, words []string) []time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scriptLimit)
	defer cancel()
	ended := make([]time.Time, n)
	var wg sync.WaitGroup
	for i := range n {
		cmd := exec.CommandContext(ctx, program, words...)
		cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "RETRY_") })
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			err := cmd.Wait()
			if ended[i] = time.Now(); err != nil {
				t.Errorf("run %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	return ended
}
