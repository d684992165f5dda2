//go:build linux

// Command benchmark builds retry and prints what it costs beside the peers that
// are found on PATH: coreutils timeout, Debian's retry, recur and attempt, and the
// smallest Go program that starts a command. It asserts nothing: figures depend on
// the machine, so they are ratios of runs that took turns.
//
//	go run ./testdata/benchmark [-rounds 300] [-size 1024]
//
// All binaries are run from copies, since a file as the linker wrote it starts
// slower than a copy of it. Files go to a directory under TMPDIR, which needs
// space for -size MiB.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == receiverArg {
		receive()
		return
	}
	rounds := flag.Int("rounds", 300, "turns of each start-up measurement")
	size := flag.Int64("size", 1024, "MiB of output in the stream measurements")
	flag.Parse()
	dir, err := os.MkdirTemp("", "retry-benchmark")
	check(err)
	defer os.RemoveAll(dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	b := &bench{
		dir: dir, retry: in("retry"), floor: in("floor"), loop: in("loop"),
		rounds: *rounds, size: *size << 20,
	}
	b.build()
	b.startUp()
	b.streams()
	b.asleep()
	b.signals()
	b.failures()
	b.attempts()
}

type bench struct {
	dir, retry string
	floor      string // the smallest Go program that starts a command
	loop       string // that does so again and again
	rounds     int
	size       int64
}

func (b *bench) build() {
	for program, source := range map[string]string{
		b.retry: ".", b.floor: "./testdata/benchmark/floor", b.loop: "./testdata/benchmark/loop",
	} {
		linked := filepath.Join(b.dir, "linked")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", linked, source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		check(cmd.Run())
		b.copyTo(program, linked)
	}
	info, err := os.Stat(b.retry)
	check(err)
	fmt.Printf("binary, static and stripped: %.2f MB\n", float64(info.Size())/1e6)
}

// copyTo makes dst an executable copy of src.
func (b *bench) copyTo(dst, src string) {
	in, err := os.Open(src)
	check(err)
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_WRONLY, 0o755)
	check(err)
	_, err = io.Copy(out, in)
	check(err)
	check(out.Close())
}

// peer returns a copy of a program on PATH, "" if there is none.
func (b *bench) peer(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	dst := filepath.Join(b.dir, "peer-"+name)
	b.copyTo(dst, path)
	return dst
}

// contest is one command of a comparison.
type contest struct {
	label string
	argv  []string
	wall  []float64 // seconds
	cpu   []float64
}

// compare runs all commands in turns and prints each one's figures as ratios to
// the first: of each turn's wall times the median, of the CPU times the mean.
func compare(rounds int, commands []*contest) {
	for round := range rounds + 1 {
		for _, c := range commands {
			wall, cpu := once(c.argv)
			if round > 0 { // the first turn warms up
				c.wall, c.cpu = append(c.wall, wall), append(c.cpu, cpu)
			}
		}
	}
	base := commands[0]
	fmt.Printf("%-52s %9s %6s %6s\n", "", "median", "wall", "CPU")
	for _, c := range commands {
		ratios := make([]float64, rounds)
		for i := range ratios {
			ratios[i] = c.wall[i] / base.wall[i]
		}
		fmt.Printf("%-52s %7.2fms %6.2f %6.2f\n", c.label, 1e3*median(c.wall), median(ratios),
			mean(c.cpu)/mean(base.cpu))
	}
}

// once runs argv with its output thrown away.
func once(argv []string) (wall, cpu float64) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	check(err)
	defer null.Close()
	begun := time.Now()
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Files: []*os.File{null, null, null}})
	check(err)
	state, err := p.Wait()
	check(err)
	return time.Since(begun).Seconds(), (state.UserTime() + state.SystemTime()).Seconds()
}

func median(x []float64) float64 { return quantile(x, 0.5) }

func quantile(x []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// status returns one figure of /proc/PID/FILE, in kB or as a plain count.
func status(pid int, file, name string) (value int64) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	check(err)
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			_, err := fmt.Sscan(string(rest), &value)
			check(err)
			return value
		}
	}
	check(fmt.Errorf("no %s in /proc/%d/%s", name, pid, file))
	return 0
}

// start runs argv in the background.
func start(out io.Writer, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout = out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	check(cmd.Start())
	return cmd
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}
