package process

// This file starts a process inside a job object, so that whatever it starts
// can be ended with it.

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/retrysh/retry/exitcodes"
)

// Tree is a process with its job, which takes all that it starts along.
type Tree struct {
	pid     int
	process windows.Handle
	job     windows.Handle
	exited  chan struct{} // closed when it has ended; nil before Moved
}

// Start starts argv with the given files as its standard streams, in a job and a console
// process group of its own. Nothing else is inherited. The error is an *exitcodes.Error.
func (t *Tree) Start(argv, env []string, files [3]*os.File, _ []uintptr) error {
	path, err := LookUp(argv[0])
	if err != nil {
		return err
	}
	if t.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return startError(exitcodes.Failure, "creating a job object: %w", err)
	}
	return t.create(path, argv, env, files)
}

// LookUp finds a command. The error is an *exitcodes.Error.
func LookUp(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return path, nil
	case errors.Is(err, os.ErrPermission):
		return "", startError(exitcodes.NotExecutable, "%q: cannot be executed: %w", name, err)
	}
	if info, err := os.Stat(name); err == nil && strings.ContainsAny(name, `\/`) {
		why := "its name does not end as PATHEXT asks for"
		if info.IsDir() {
			why = "is a directory"
		}
		return "", startError(exitcodes.NotExecutable, "%q: cannot be executed: %s", name, why)
	}
	return "", startError(exitcodes.NotFound, "%q: not found in PATH", name)
}

func (t *Tree) limitJob(flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(t.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// resume continues a process that was created suspended.
var resume = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// create starts the process suspended, so that it starts nothing before it is in the job,
// which ends with its last handle, that is with this program.
func (t *Tree) create(path string, argv, env []string, files [3]*os.File) error {
	if err := t.limitJob(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		return startError(exitcodes.Failure, "setting up a job object: %w", err)
	}
	program, line := path, commandLine(argv)
	if isBatch(path) {
		var err error
		if program, line, err = batch(path, argv[1:]); err != nil {
			return startError(exitcodes.Failure, "%w", err)
		}
	}
	pid, process, err := syscall.StartProcess(program, argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()},
		Sys: &syscall.SysProcAttr{
			CmdLine: line, CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP,
		},
	})
	if err != nil {
		return startError(exitcodes.NotExecutable, "%q: cannot be executed: %w", path, err)
	}
	t.pid, t.process = pid, windows.Handle(process)
	if err = windows.AssignProcessToJobObject(t.job, t.process); err == nil {
		if status, _, _ := resume.Call(process); status != 0 {
			err = windows.NTStatus(status)
		}
	}
	if err != nil {
		_ = windows.TerminateProcess(t.process, exitcodes.Failure)
		return startError(exitcodes.Failure, "putting %q into its job: %w", path, err)
	}
	return nil
}

// batch is the program that runs a batch file, and its command line.
func batch(path string, words []string) (program, line string, err error) {
	system, err := windows.GetSystemDirectory()
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		line, err = batchLine(path, words)
	}
	return filepath.Join(system, "cmd.exe"), line, err
}

// commandLine writes argv as the one string that a process gets. cmd.exe takes
// a backslash before a quote for itself; what it is to run as it stands goes
// between quotes of its own, which /s makes it take off (cmd /?).
func commandLine(argv []string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(argv[0])), ".exe")
	if len(argv) < 3 || name != "cmd" || !strings.EqualFold(argv[1], "/c") || !strings.Contains(argv[2], `"`) {
		return windows.ComposeCommandLine(argv)
	}
	words := append([]string{argv[2]}, windows.ComposeCommandLine(argv[3:]))
	return windows.ComposeCommandLine(argv[:1]) + ` /s /c "` + strings.TrimRight(strings.Join(words, " "), " ") + `"`
}

// Wait waits for the process to end, for ms milliseconds at most, and reports
// whether it has.
func (t *Tree) Wait(ms uint32) (Ending, bool) {
	event, err := windows.WaitForSingleObject(t.process, ms)
	if err != nil {
		return Ending{Err: err}, true
	}
	if event != windows.WAIT_OBJECT_0 {
		return Ending{}, false
	}
	var code uint32
	err = windows.GetExitCodeProcess(t.process, &code)
	return Ending{Code: int(code), Err: err}, true
}

// Interrupt sends Ctrl-Break to the process group, the one event that can be
// sent to a group.
func (t *Tree) Interrupt() error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(t.pid))
}

// AwaitUntil waits until the process has ended, at most for limit, and reports whether it
// has.
func (t *Tree) AwaitUntil(limit time.Duration) bool {
	_, over := t.Wait(uint32(limit / time.Millisecond))
	return over
}

// HasEnded reports whether the process has ended.
func (t *Tree) HasEnded() bool { return t.AwaitUntil(0) }

// Reap returns how the process has ended.
func (t *Tree) Reap() Ending {
	how, _ := t.Wait(0)
	return how
}

// Moved returns what is closed when the process has ended.
func (t *Tree) Moved() <-chan struct{} {
	t.exited = make(chan struct{})
	go func() {
		defer close(t.exited)
		_, _ = t.Wait(windows.INFINITE)
	}()
	return t.exited
}

// Remember has nothing to note, and IsShared is false: a job holds all that the process
// has started, and nothing else.
func (t *Tree) Remember()      {}
func (t *Tree) IsShared() bool { return false }

// End asks the process group to end by Ctrl-Break and, after the grace or when now is
// closed, ends the job. It returns when that is done.
func (t *Tree) End(sig syscall.Signal, grace time.Duration, now <-chan struct{}) {
	const look = 10 * time.Millisecond
	if sig != syscall.SIGKILL && t.Interrupt() == nil {
		for limit := time.Now().Add(grace); t.living() > 0 && time.Now().Before(limit); {
			select {
			case <-now:
				limit = time.Now()
			case <-time.After(look):
			}
		}
	}
	for t.terminate(); t.living() > 0; t.terminate() {
		time.Sleep(look)
	}
}

func (t *Tree) terminate() { _ = windows.TerminateJobObject(t.job, uint32(exitcodes.OfSignal(9))) }

// living returns how many processes of the job are left.
func (t *Tree) living() int {
	var info struct {
		times      [4]int64
		faults     uint32
		total      uint32
		active     uint32
		terminated uint32
	}
	const basicAccounting = 1 // JobObjectBasicAccountingInformation
	if windows.QueryInformationJobObject(t.job, basicAccounting, uintptr(unsafe.Pointer(&info)),
		uint32(unsafe.Sizeof(info)), nil) != nil {
		return 0
	}
	return int(info.active)
}

// Close frees the process, if it was started. What it left behind lives on: the limit by
// which the job ends with its last handle is removed.
func (t *Tree) Close() {
	if t.exited != nil { // until then a goroutine waits for the process
		<-t.exited
	}
	_ = t.limitJob(0)
	_ = windows.CloseHandle(t.job)
	_ = windows.CloseHandle(t.process)
}
