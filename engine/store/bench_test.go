package store

// This file measures transactions: one after another, and by 64 processes at a
// time on one key.
//
//	go test ./engine/store -run '^$' -bench .

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/testdata/session"
)

// loopVariable asks the test program to be one of many processes: it holds the
// address of the store.
const loopVariable = "STORE_LOOP"

// beMember is what the test program does as another user (members_linux_test.go).
var beMember func(dir string)

func TestMain(m *testing.M) {
	if address := os.Getenv(loopVariable); address != "" {
		loop(address)
		return
	}
	if dir := os.Getenv("STORE_MEMBER"); dir != "" && beMember != nil {
		beMember(dir)
		return
	}
	os.Exit(session.Run(m))
}

// guarded are the guards of a run with a breaker and a budget.
var guarded = &guard.Guards{
	Breaker: guard.Breaker{Rate: 500_000, Min: 10, Window: 60_000, Open: 30_000, Probes: 1},
	Budget:  guard.Budget{On: true, Ratio: 100_000, Min: 3, Window: 60_000},
}

type doer interface {
	Do(context.Context, string, *guard.Guards, *guard.Request) (guard.Answer, guard.Lock, error)
}

func openAny(address string) doer {
	a, err := ParseAddress(address)
	if err != nil {
		panic(err)
	}
	return Open(&a, func(string) {})
}

// both makes a run's two transactions.
func both(s doer) error {
	a, _, err := s.Do(context.Background(), "k", guarded, &guard.Request{Op: guard.Admit, Attempt: 1, ID: 1})
	if err == nil {
		_, _, err = s.Do(context.Background(), "k", guarded,
			&guard.Request{Op: guard.Report, Pass: a.Pass, Outcome: guard.Success})
	}
	return err
}

// loop makes transactions for two seconds, once standard input says so, and
// prints how many.
func loop(address string) {
	s := openAny(address)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	n := 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); n += 2 {
		if err := both(s); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Println(n)
}

func stores(b *testing.B) map[string]string {
	stores := map[string]string{"file": "file:" + b.TempDir()}
	if _, err := exec.LookPath("redis-server"); err == nil {
		stores["redis"] = "redis+unix://" + server(b)
	}
	return stores
}

// BenchmarkOneRun reports the median and the 99th percentile of a run's two
// transactions.
func BenchmarkOneRun(b *testing.B) {
	for name, address := range stores(b) {
		b.Run(name, func(b *testing.B) {
			s := openAny(address)
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := both(s); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-us")
		})
	}
}

// Benchmark64Processes counts the transactions a second of 64 processes, and the
// processor time that each of them takes, which says more if others work too.
func Benchmark64Processes(b *testing.B) {
	for name, address := range stores(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				total, used := 0, time.Duration(0)
				var all []*exec.Cmd
				var outs []*bufio.Reader
				start, begin, err := os.Pipe()
				if err != nil {
					b.Fatal(err)
				}
				for range 64 {
					cmd := exec.Command(os.Args[0])
					cmd.Env = append(os.Environ(), loopVariable+"="+address)
					cmd.Stdin, cmd.Stderr = start, os.Stderr
					out, err := cmd.StdoutPipe()
					if err != nil || cmd.Start() != nil {
						b.Fatal(err)
					}
					all, outs = append(all, cmd), append(outs, bufio.NewReader(out))
				}
				_ = start.Close()
				_ = begin.Close() // the end of the file lets them all go
				for i, cmd := range all {
					line, _ := outs[i].ReadString('\n')
					if err := cmd.Wait(); err != nil {
						b.Fatal(err)
					}
					n, _ := strconv.Atoi(line[:max(len(line)-1, 0)])
					total += n
					used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				}
				b.ReportMetric(float64(total)/2, "transactions/s")
				b.ReportMetric(float64(used.Nanoseconds())/1e3/float64(total), "cpu-us/transaction")
			}
		})
	}
}
