//go:build unix

package proc

// This file makes the test binary a small program of its own, so that tests
// see the package from outside, as processes of their own.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/exitcodes"
	"github.com/retrysh/retry/testdata/session"
)

const driverEnv = "PROC_TEST_DRIVER"

// orders are what a test asks the driver to do.
type orders struct {
	Stdin          stdio.InputMode
	Stdout, Stderr stdio.OutputMode
	Signal         attempt.Signal
	KillAfter      time.Duration
	KillLeftovers  bool

	Argv     []string
	Env      []string // nil is the driver's own
	Attempts int      // 0 is 1; until an exit of 0
	Pause    time.Duration
	Timeout  time.Duration
	Deadline time.Duration
	Capture  string // "out", "err", "both"
	Report   string // a file for one line of JSON an attempt
	Long     int    // adds an argument of that many bytes
	Exec     bool
	Hesitate bool // stops short of the exec
	Probe    bool
	Copies   int // run beside one another; the first is settled, the others are dropped
	Streams  attempt.Streams
	Idle     time.Duration
	Rounds   int           // of TestTwoAtATime
	Cancel   time.Duration // ends the context
	AtOnce   bool
	Inherit  string // a file that the command has as $FD
	Look     bool   // prints what the driver was started with
	GiveAway bool   // gives the terminal to a process group that ends
	Files    uint64 // prints whether they are enough
	// Accompany starts the command as a process that is no attempt's, and goes along with it.
	Accompany bool
	// All prints the whole input at the end, which has as long to end.
	All time.Duration
}

// outcome is one such line.
type outcome struct {
	attempt.Result
	StartErr, Err  string
	Stdout, Stderr string
	Said           []string
}

func TestMain(m *testing.M) {
	if os.Getenv(driverEnv) != "" {
		os.Exit(driver())
	}
	os.Exit(session.Run(m))
}

func driver() int {
	var o orders
	if err := json.Unmarshal([]byte(os.Getenv(driverEnv)), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	_ = os.Unsetenv(driverEnv)
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Long > 0 {
		o.Argv = append(o.Argv, strings.Repeat("x", o.Long))
	}
	if o.Look {
		return driveLook()
	}
	if o.Files > 0 {
		return driveFiles(o.Files)
	}
	if o.GiveAway {
		last := exec.Command("true")
		last.SysProcAttr = &syscall.SysProcAttr{Foreground: true}
		if err := last.Run(); err != nil {
			panic(err)
		}
		return 3
	}
	listening := Listen()
	if o.Hesitate {
		listening.RestoreAll()
		fmt.Println("let go")
		time.Sleep(10 * time.Minute)
		return 0
	}
	if o.Exec {
		code, err := Exec(listening, o.Argv, o.Env)
		fmt.Fprintln(os.Stderr, err)
		return code
	}
	if o.Accompany {
		return driveAccompany(&o, listening)
	}
	if o.Probe {
		return driveProbe(&o)
	}
	if o.Copies > 0 {
		return driveCopies(&o, listening)
	}
	if o.Rounds > 0 {
		return driveRounds(&o, listening)
	}
	code := drive(&o, listening)
	if n := signals.Ending.Load(); n != 0 {
		fmt.Fprintln(os.Stderr, "ends that are under way:", n)
	}
	return code
}

// driveLook prints what the driver was started with.
func driveLook() int {
	waiting, ended := InputState()
	before := descriptors()
	terminal := new(console)
	for range 2 {
		_ = terminal.hasForeground() // the second takes it back
	}
	if left := descriptors() - before; left != 0 {
		fmt.Printf("%d descriptors are left\n", left)
	}
	fmt.Printf("waiting %t, ended %t, used up %t, null %t, terminal %t, job %t, foreground %t, beside others %t\n",
		waiting, ended, InputUsedUp(), NullInput(), !terminal.none.Load(), underJobControl(), ForegroundTerminal(),
		besideOthers())
	return 0
}

// descriptors counts those that are open.
func descriptors() (n int) {
	for fd := range uintptr(300) {
		if _, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}

// driveFiles prints what EnoughFiles says with a limit of open files.
func driveFiles(limit uint64) int {
	if _, err := unix.FcntlInt(0, unix.F_DUPFD, int(limit)); err != nil { // one beyond the limit is not counted
		panic(err)
	}
	open := descriptors() - 1 // without the one beyond
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		panic(err)
	}
	before.Cur = limit
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		panic(err)
	}
	cfg := Config{Stdout: stdio.Hold}
	most := int(limit) - open - filesOfStreams(cfg, 0) - 4 // the standard streams are counted twice
	fmt.Println(EnoughFiles(cfg, 0, most))
	fmt.Println(strings.ReplaceAll(fmt.Sprint(EnoughFiles(cfg, 0, most+1)), fmt.Sprintf("since %d are", open-3),
		"since SOME are"))
	return 0
}

func driveAccompany(o *orders, listening *Signals) int {
	p, err := os.StartProcess(o.Argv[0], o.Argv,
		&os.ProcAttr{Env: o.Env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		panic(err)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = p.Wait()
		close(ended)
	}()
	asked := Accompany(listening, p, ended)
	fmt.Printf("asked %q\n", asked)
	if asked == "" {
		return dieBy(<-listening.Cancelled())
	}
	return 0
}

func driveProbe(o *orders) int {
	ctx, cancel := context.Background(), func() {}
	if o.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
	}
	defer cancel()
	var out bytes.Buffer
	res := Probe(ctx, o.Argv, o.Env, &out)
	record(o, res, out.String(), "", nil)
	return res.ExitCode
}

// drive is a loop as the engine has it, without judgement or jitter.
func drive(o *orders, listening *Signals) int {
	var said []string
	r := New(Config{
		Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, Signal: o.Signal, KillAfter: o.KillAfter,
		KillLeftovers: o.KillLeftovers,
		Warn:          func(line string) { said = append(said, line) },
	}, listening)
	var last attempt.Result
	for n := 1; n <= max(1, o.Attempts); n++ {
		var out, errs bytes.Buffer
		spec := attempt.Spec{Number: n, Argv: o.Argv, Env: append(o.Env, fmt.Sprintf("RETRY_ATTEMPT=%d", n)),
			Timeout: o.Timeout, IdleTimeout: o.Idle, Streams: o.Streams}
		if o.Deadline > 0 {
			spec.Deadline = time.Now().Add(o.Deadline)
		}
		if o.Capture == "out" || o.Capture == "both" {
			spec.Stdout = &out
		}
		if o.Capture == "err" || o.Capture == "both" {
			spec.Stderr = &errs
		}
		ctx, cancel := context.Background(), func() {}
		if o.Cancel > 0 {
			spec.KillAtOnce = o.AtOnce
			ctx, cancel = context.WithTimeoutCause(ctx, o.Cancel, errors.New("no more of this"))
		}
		if o.Inherit != "" {
			f, err := os.Create(o.Inherit) // close-on-exec
			if err != nil {
				panic(err)
			}
			defer f.Close()
			spec.Inherit, spec.Env = []uintptr{f.Fd()}, append(spec.Env, fmt.Sprintf("FD=%d", f.Fd()))
		}
		a := r.Start(ctx, spec)
		last = a.Wait()
		cancel()
		settled := a.Settle(last.ExitCode == 0 && last.Err == nil)
		record(o, last, out.String(), errs.String(), said)
		if code, done := verdict(last, settled); done {
			return code
		}
		select {
		case sig := <-listening.Cancelled():
			return dieBy(sig)
		case <-listening.Woken():
		case <-time.After(o.Pause):
		}
	}
	if o.All > 0 {
		return printAll(r, o.All)
	}
	if last.Signal != "" && last.ExitCode != exitcodes.Timeout {
		return dieBy(last.Signal)
	}
	return last.ExitCode
}

func printAll(r *Runner, limit time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	input, err := r.Input(ctx)
	if err == nil {
		_, err = io.Copy(os.Stdout, input)
	}
	if err != nil {
		fmt.Println(err)
		return 3
	}
	return 0
}

func verdict(last attempt.Result, settled error) (int, bool) {
	switch {
	case last.ReaderGone, settled == attempt.ErrReaderGone:
		return dieBy("SIGPIPE"), true
	case last.Err != nil || settled != nil:
		fmt.Fprintln(os.Stderr, last.Err, settled)
		return 125, true
	case last.Cancelled == "SIGINT" || last.Cancelled == "SIGQUIT":
		if last.ExitCode == 0 {
			return 0, true
		}
		return dieBy(last.Cancelled), true
	case last.Cancelled != "" && last.Signal != "":
		return dieBy(last.Signal), true
	case last.Cancelled != "" || last.ExitCode == 0 || last.StartErr != nil || last.DeadlinePassed:
		return last.ExitCode, true
	}
	return 0, false
}

func dieBy(sig attempt.Signal) int {
	Die(sig)
	n, _ := NumberOf(sig)
	return exitcodes.OfSignal(n)
}

func record(o *orders, res attempt.Result, stdout, stderr string, said []string) {
	if o.Report == "" {
		return
	}
	out := outcome{Result: res, Stdout: stdout, Stderr: stderr, Said: said}
	if res.Err != nil {
		out.Err = res.Err.Error()
	}
	if res.StartErr != nil {
		out.StartErr = res.StartErr.Error()
	}
	out.Result.Err, out.Result.StartErr = nil, nil
	line, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(o.Report, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		panic(err)
	}
}

// driven is a driver that runs.
type driven struct {
	*exec.Cmd
	t      *testing.T
	report string
	// The outputs go to files: a pipe would keep Wait from returning while
	// what a test left running holds it.
	out, err       *os.File
	limit          time.Duration // that of all waits unless it is longer
	Stdout, Stderr bytes.Buffer  // filled by wait
}

// order makes a driver that has not started yet, in a session of its own: out of the
// foreground of whatever terminal the tests run in.
func order(t *testing.T, o orders) *driven {
	t.Helper()
	if o.Report == "" {
		o.Report = t.TempDir() + "/report"
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	d := &driven{Cmd: exec.Command(os.Args[0]), t: t, report: o.Report}
	d.Env = append(os.Environ(), driverEnv+"="+string(text), "GORACE=atexit_sleep_ms=0", "GOTRACEBACK=all")
	d.out, d.err = tempFile(t), tempFile(t)
	d.Cmd.Stdout, d.Cmd.Stderr = d.out, d.err
	d.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return d
}

func tempFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func contents(t *testing.T, f *os.File) []byte {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run runs a driver to its end.
func run(t *testing.T, o orders) *driven {
	t.Helper()
	d := order(t, o)
	d.start()
	d.wait()
	return d
}

func (d *driven) start() {
	d.t.Helper()
	if err := d.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = d.Process.Kill() })
}

// wait waits for the driver, for a limited time.
func (d *driven) wait() {
	d.t.Helper()
	timer := time.AfterFunc(max(d.limit, limit), func() {
		_ = d.Process.Signal(syscall.SIGABRT) // for its stacks
		time.Sleep(time.Second)
		_ = d.Process.Kill()
	})
	_ = d.Wait()
	hangs := !timer.Stop()
	d.Stdout.Write(contents(d.t, d.out))
	d.Stderr.Write(contents(d.t, d.err))
	_ = d.out.Close()
	_ = d.err.Close()
	if hangs {
		d.t.Fatalf("the driver hangs; stderr %q", d.Stderr.String())
	}
}

// outcomes are what the driver noted, one an attempt.
func (d *driven) outcomes() []outcome {
	d.t.Helper()
	f, err := os.Open(d.report)
	if err != nil {
		d.t.Fatalf("no report: %v; %v; stderr %q", err, d.ProcessState, d.Stderr.String())
	}
	defer f.Close()
	var all []outcome
	dec := json.NewDecoder(f)
	for {
		var o outcome
		err := dec.Decode(&o)
		if err == io.EOF {
			return all
		}
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, o)
	}
}

// only is the outcome of the only attempt.
func (d *driven) only() outcome {
	d.t.Helper()
	all := d.outcomes()
	if len(all) != 1 {
		d.t.Fatalf("%d attempts, want 1: %+v; stderr %q", len(all), all, d.Stderr.String())
	}
	return all[0]
}

// ends says how the driver ended: "exit 3" or "signal terminated".
func (d *driven) end() string { return strings.TrimSuffix(d.ProcessState.String(), " (core dumped)") }

func sh(script string) []string { return []string{"/bin/sh", "-c", script} }
