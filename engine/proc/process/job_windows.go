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

// Process is a process with its job, which takes all that it starts along.
type Process struct {
	pid     int
	process windows.Handle
	job     windows.Handle
	exited  chan struct{} // closed when it has ended; nil before Moved
}

// Start starts argv with the given files as its standard streams, in a job and
// a console process group of its own. The error is an *exitcodes.Error.
func Start(argv, env []string, files [3]*os.File) (*Process, error) {
	path, err := LookUp(argv[0])
	if err != nil {
		return nil, err
	}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, startError(exitcodes.Failure, "creating a job object: %w", err)
	}
	c := &Process{job: job}
	if err = c.create(path, argv, env, files); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return c, nil
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

func (c *Process) limitJob(flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(c.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// resume continues a process that was created suspended.
var resume = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// create starts the process suspended, so that it starts nothing before it is in the job,
// which ends with its last handle, that is with this program.
func (c *Process) create(path string, argv, env []string, files [3]*os.File) error {
	if err := c.limitJob(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		return startError(exitcodes.Failure, "setting up a job object: %w", err)
	}
	pid, process, err := syscall.StartProcess(path, argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()},
		Sys: &syscall.SysProcAttr{CmdLine: commandLine(argv), CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		return startError(exitcodes.NotExecutable, "%q: cannot be executed: %w", path, err)
	}
	c.pid, c.process = pid, windows.Handle(process)
	if err = windows.AssignProcessToJobObject(c.job, c.process); err == nil {
		if status, _, _ := resume.Call(process); status != 0 {
			err = windows.NTStatus(status)
		}
	}
	if err != nil {
		_ = windows.TerminateProcess(c.process, exitcodes.Failure)
		_ = windows.CloseHandle(c.process)
		return startError(exitcodes.Failure, "putting %q into its job: %w", path, err)
	}
	return nil
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
func (c *Process) Wait(ms uint32) (Ending, bool) {
	event, err := windows.WaitForSingleObject(c.process, ms)
	if err != nil {
		return Ending{Err: err}, true
	}
	if event != windows.WAIT_OBJECT_0 {
		return Ending{}, false
	}
	var code uint32
	err = windows.GetExitCodeProcess(c.process, &code)
	return Ending{Code: int(code), Err: err}, true
}

// Interrupt sends Ctrl-Break to the process group, the one event that can be
// sent to a group.
func (c *Process) Interrupt() error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.pid))
}

// AwaitUntil waits until the process has ended, at most for limit, and reports whether it
// has.
func (c *Process) AwaitUntil(limit time.Duration) bool {
	_, over := c.Wait(uint32(limit / time.Millisecond))
	return over
}

// HasEnded reports whether the process has ended.
func (c *Process) HasEnded() bool { return c.AwaitUntil(0) }

// Reap returns how the process has ended.
func (c *Process) Reap() Ending {
	how, _ := c.Wait(0)
	return how
}

// Moved returns what is closed when the process has ended.
func (c *Process) Moved() <-chan struct{} {
	c.exited = make(chan struct{})
	go func() {
		defer close(c.exited)
		_, _ = c.Wait(windows.INFINITE)
	}()
	return c.exited
}

// Remember has nothing to note, and IsShared is false: a job holds all that the process
// has started, and nothing else.
func (c *Process) Remember()      {}
func (c *Process) IsShared() bool { return false }

// End asks the process group to end by Ctrl-Break and, after the grace or when now is
// closed, ends the job. It returns when that is done.
func (c *Process) End(sig syscall.Signal, grace time.Duration, now <-chan struct{}) {
	const look = 10 * time.Millisecond
	if sig != syscall.SIGKILL && c.Interrupt() == nil {
		for limit := time.Now().Add(grace); c.living() > 0 && time.Now().Before(limit); {
			select {
			case <-now:
				limit = time.Now()
			case <-time.After(look):
			}
		}
	}
	for c.terminate(); c.living() > 0; c.terminate() {
		time.Sleep(look)
	}
}

func (c *Process) terminate() { _ = windows.TerminateJobObject(c.job, uint32(exitcodes.OfSignal(9))) }

// living returns how many processes of the job are left.
func (c *Process) living() int {
	var info struct {
		times      [4]int64
		faults     uint32
		total      uint32
		active     uint32
		terminated uint32
	}
	const basicAccounting = 1 // JobObjectBasicAccountingInformation
	if windows.QueryInformationJobObject(c.job, basicAccounting, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil) != nil {
		return 0
	}
	return int(info.active)
}

// Close frees the process. What it left behind lives on: the limit by which the job
// ends with its last handle is removed.
func (c *Process) Close() {
	if c.exited != nil { // until then a goroutine waits for the process
		<-c.exited
	}
	_ = c.limitJob(0)
	_ = windows.CloseHandle(c.job)
	_ = windows.CloseHandle(c.process)
}
