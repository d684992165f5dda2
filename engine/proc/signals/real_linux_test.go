package signals

// This file tests what becomes of a program that gets signals: this one, run again as one of
// scenes.

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/testdata/session"
)

const sceneVariable = "TEST_OF_SIGNALS_SCENE"

func TestMain(m *testing.M) {
	if name := os.Getenv(sceneVariable); name != "" {
		scenes[name]()
		fmt.Println("over")
		os.Exit(0)
	}
	os.Exit(session.Run(m))
}

// send sends a signal to this program.
func send(sig syscall.Signal) { _ = syscall.Kill(os.Getpid(), sig) }

// scenes are what a program does. One that comes to its end says so.
var scenes = map[string]func(){
	// What reached the program before Settle is there behind it.
	"settled": func() {
		s := Listen()
		Ending.Add(1)
		send(syscall.SIGTERM)
		s.Settle()
		fmt.Println(len(s.Cancelled()), <-s.Cancelled())
	},
	// What asks for the end during a start waits for its end; all else does not.
	"start": func() {
		s := Listen()
		Ending.Add(1)
		send(syscall.SIGHUP)
		s.BeginStart()
		before := state(s)
		send(syscall.SIGTERM)
		send(syscall.SIGUSR1)
		s.Settle()
		during := state(s)
		meanwhile := s.EndStart()
		fmt.Println(before, during, meanwhile, state(s) == "")
		s.BeginStart()
		fmt.Println(s.EndStart())
		send(syscall.SIGINT)
		s.Settle()
		fmt.Println(state(s))
	},
	"default again": func() {
		s := Listen()
		s.Catch([]syscall.Signal{syscall.SIGTSTP})
		fmt.Printf("%q\n", s.RestoreAll())
		s.Catch([]syscall.Signal{syscall.SIGUSR1}) // has no effect any more
		send(syscall.SIGUSR1)
		time.Sleep(time.Minute)
	},
	"default again, with one pending": func() {
		s := Listen()
		Ending.Add(1)
		send(syscall.SIGTERM)
		s.Settle()
		fmt.Printf("%q\n", s.RestoreAll())
	},
	"default again, then the end": func() {
		Listen().RestoreAll()
		send(syscall.SIGTERM)
		time.Sleep(time.Minute)
	},
	// A program that does not end, though it was asked to, is ended.
	"stuck": func() {
		Listen()
		send(syscall.SIGTERM)
		select {}
	},
	"busy, then stuck": func() {
		Listen()
		Ending.Add(1)
		send(syscall.SIGTERM)
		time.Sleep(3 * stuckTime)
		fmt.Println("lives")
		Ending.Add(-1)
		select {}
	},
	// One that was busy has its time to end from then on.
	"busy, then over": func() {
		Listen()
		Ending.Add(1)
		send(syscall.SIGTERM)
		time.Sleep(stuckTime - 2*stuckLook)
		Ending.Add(-1)
		time.Sleep(4 * stuckLook)
	},
	"a slow file": func() {
		s := Listen()
		s.Interruptible(func() {
			send(syscall.SIGINT)
			select {}
		})
	},
	"a file": func() {
		n := 0
		Listen().Interruptible(func() { n++ })
		(*Signals)(nil).Interruptible(func() { n += 10 })
		fmt.Println(n)
	},
	"at once": func() {
		s := Listen()
		s.EndAtOnce()
		send(syscall.SIGHUP)
		time.Sleep(time.Minute)
	},
	"pending": func() {
		s := Listen()
		s.DieOfPending()
		fmt.Println("none")
		send(syscall.SIGTERM)
		s.Settle()
		s.DieOfPending()
	},
	// They die without Go's stacks.
	"ABRT in a wait":            func() { Listen(); send(syscall.SIGABRT); time.Sleep(time.Minute) },
	"SEGV":                      func() { Listen(); send(syscall.SIGSEGV); time.Sleep(time.Minute) },
	"BUS":                       func() { Listen(); send(syscall.SIGBUS); time.Sleep(time.Minute) },
	"ILL":                       func() { Listen(); send(syscall.SIGILL); time.Sleep(time.Minute) },
	"FPE":                       func() { Listen(); send(syscall.SIGFPE); time.Sleep(time.Minute) },
	"die of TERM":               func() { Die("SIGTERM") },
	"die of ABRT":               func() { core(); Die("SIGABRT") },
	"die of a real-time signal": func() { Die("SIGRTMIN+3") },
	"die of a blocked signal": func() {
		runtime.LockOSThread()
		var all unix.Sigset_t
		for i := range all.Val {
			all.Val[i] = ^all.Val[i]
		}
		_ = unix.PthreadSigmask(unix.SIG_SETMASK, &all, nil)
		Die("SIGTERM")
	},
	"die of what does not kill": func() {
		for _, sig := range []attempt.Signal{"SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGNOPE", ""} {
			Die(sig)
		}
	},
	"ignored": func() {
		s := Listen()
		send(syscall.SIGHUP)
		s.Settle()
		fmt.Println(len(s.Cancelled()), Handles(os.Getpid(), syscall.SIGHUP), isIgnored(syscall.SIGHUP))
	},
	"stops with its job": func() {
		s, went := Listen(), make(chan struct{})
		s.OnStop(func() { fmt.Println("stopping") }, func() { fmt.Println("going"); close(went) })
		send(syscall.SIGTSTP)
		<-went
	},
	"stops": func() {
		s, went := Listen(), make(chan os.Signal, 1)
		s.Catch(Forwarded())
		signal.Notify(went, syscall.SIGCONT)
		send(syscall.SIGTSTP)
		<-went
	},
}

// core allows a core file.
func core() {
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_CORE, &limit)
	limit.Cur = limit.Max
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
}

// scene is a run of one of them, in a process group of its own.
func scene(t *testing.T, name string, words ...string) (cmd *exec.Cmd, out io.Reader, errors *bytes.Buffer) {
	t.Helper()
	words = append(words, os.Args[0])
	cmd = exec.Command(words[0], words[1:]...)
	// The race detector waits at an exit; a signal of that time would end the scene.
	cmd.Env = append(os.Environ(), sceneVariable+"="+name, "GORACE=atexit_sleep_ms=0")
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	errors = &bytes.Buffer{}
	cmd.Stderr = errors
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { limit.Stop() })
	return cmd, out, errors
}

// What a program prints, and what it dies of.
func TestSignalsThatAreSent(t *testing.T) {
	ignoring := []string{"sh", "-c", `trap "" HUP; exec "$0"`}
	for name, c := range map[string]struct {
		out   string
		dies  syscall.Signal
		words []string
	}{
		"settled":                         {out: "1 SIGTERM\nover\n"},
		"start":                           {out: "SIGHUP woken [terminated] true\n[]\nSIGINT\nover\n"},
		"default again":                   {out: "\"\"\n", dies: syscall.SIGUSR1},
		"default again, with one pending": {out: "\"SIGTERM\"\nover\n"},
		"default again, then the end":     {dies: syscall.SIGTERM},
		"stuck":                           {dies: syscall.SIGTERM},
		"busy, then stuck":                {out: "lives\n", dies: syscall.SIGTERM},
		"busy, then over":                 {out: "over\n"},
		"a slow file":                     {dies: syscall.SIGINT},
		"a file":                          {out: "11\nover\n"},
		"at once":                         {dies: syscall.SIGHUP},
		"pending":                         {out: "none\n", dies: syscall.SIGTERM},
		"ABRT in a wait":                  {dies: syscall.SIGABRT},
		"SEGV":                            {dies: syscall.SIGSEGV},
		"BUS":                             {dies: syscall.SIGBUS},
		"ILL":                             {dies: syscall.SIGILL},
		"FPE":                             {dies: syscall.SIGFPE},
		"die of TERM":                     {dies: syscall.SIGTERM},
		"die of ABRT":                     {dies: syscall.SIGABRT},
		"die of a real-time signal":       {dies: 37},
		"die of a blocked signal":         {dies: syscall.SIGTERM},
		"die of what does not kill":       {out: "over\n"},
		"ignored":                         {out: "0 false true\nover\n", words: ignoring},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, out, errors := scene(t, name, c.words...)
			said, err := io.ReadAll(out)
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			died := syscall.Signal(0)
			if status.Signaled() {
				died = status.Signal()
			}
			if string(said) != c.out || died != c.dies || errors.Len() > 0 || status.CoreDump() {
				t.Errorf("it prints %q and %.300q, and ends with %v (core %t); want %q and %v", said, errors, status,
					status.CoreDump(), c.out, c.dies)
			}
		})
	}
}

// A program that stops with its job does so by the signal, and goes on after CONT.
func TestStopsAreSeen(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		by     syscall.Signal
		after  string
	}{
		"stops with its job": {"stopping\n", syscall.SIGTSTP, "going\nover\n"},
		"stops":              {"", syscall.SIGSTOP, "over\n"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, out, errors := scene(t, name)
			var status syscall.WaitStatus
			for {
				_, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
				if err != syscall.EINTR {
					break
				}
			}
			if !status.Stopped() || status.StopSignal() != c.by {
				t.Fatalf("%v, want it stopped by %v; %s", status, c.by, errors)
			}
			lines := bufio.NewReader(out)
			for range strings.Count(c.before, "\n") {
				if line, err := lines.ReadString('\n'); err != nil || line != c.before {
					t.Errorf("%q before it stops, %v", line, err)
				}
			}
			_ = cmd.Process.Signal(syscall.SIGCONT)
			if said, err := io.ReadAll(lines); err != nil || string(said) != c.after {
				t.Errorf("%q after it goes on, %v; want %q", said, err, c.after)
			}
			_ = cmd.Wait()
		})
	}
}
