package spawn

// This file starts a process inside a job object, so that whatever it starts
// can be ended with it.

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/retrysh/retry/engine/proc/reap"
	"github.com/retrysh/retry/exitcodes"
)

// starting serialises the starts of processes, each of which inherits all that is
// inheritable at that moment. Only system calls are made while it is held.
var starting sync.Mutex

// Process is a process with its job, which takes all that it starts along.
type Process struct {
	pid     uint32
	process windows.Handle
	job     windows.Handle
	exited  chan struct{} // closed when it has ended; nil before Moved
}

// Start starts argv with the given files as its standard streams, in a job and
// a console process group of its own. inherit are handles that the process gets too,
// under their own numbers. The error is an *exitcodes.Error.
func Start(argv, env []string, files [3]*os.File, inherit []uintptr) (*Process, error) {
	path, err := LookUp(argv[0])
	if err != nil {
		return nil, err
	}
	job, err := newJob()
	if err != nil {
		return nil, coded(exitcodes.Failure, err)
	}
	c := &Process{job: job}
	starting.Lock()
	defer starting.Unlock()
	for _, h := range inherit {
		_ = windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT)
		defer func() { _ = windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, 0) }()
	}
	if err := c.create(path, argv, env, files); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return c, nil
}

func coded(code int, err error) error { return &exitcodes.Error{Code: code, Err: err} }

func LookUp(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return path, nil
	case errors.Is(err, os.ErrPermission):
		return "", coded(exitcodes.NotExecutable, fmt.Errorf("%q: cannot be executed: %w", name, err))
	}
	if info, err := os.Stat(name); err == nil && strings.ContainsAny(name, `\/`) {
		why := "its name does not end as PATHEXT asks for"
		if info.IsDir() {
			why = "is a directory"
		}
		return "", coded(exitcodes.NotExecutable, fmt.Errorf("%q: cannot be executed: %s", name, why))
	}
	return "", coded(exitcodes.NotFound, fmt.Errorf("%q: not found in PATH", name))
}

// newJob makes a job that ends with its last handle, that is with this program.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("creating a job object: %w", err)
	}
	if err := limitJob(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("setting up a job object: %w", err)
	}
	return job, nil
}

func limitJob(job windows.Handle, flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// create starts the process suspended, so that it starts nothing before it is
// in the job.
func (c *Process) create(path string, argv, env []string, files [3]*os.File) error {
	var handles [3]windows.Handle
	for i, f := range files {
		h, err := inheritable(f)
		if err != nil {
			return coded(exitcodes.Failure, err)
		}
		defer func() { _ = windows.CloseHandle(h) }()
		handles[i] = h
	}
	// It inherits these handles and no other: both ends of a pipe from os.Pipe
	// are inheritable, and a command with the end that feeds it never sees the
	// end of its input.
	attributes, err := windows.NewProcThreadAttributeList(1)
	if err == nil {
		defer attributes.Delete()
		err = attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handles), unsafe.Sizeof(handles))
	}
	if err != nil {
		return coded(exitcodes.Failure, fmt.Errorf("handing on the standard streams: %w", err))
	}
	startup := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	startup.Cb, startup.Flags = uint32(unsafe.Sizeof(startup)), windows.STARTF_USESTDHANDLES
	startup.StdInput, startup.StdOutput, startup.StdErr = handles[0], handles[1], handles[2]
	app, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return coded(exitcodes.NotFound, err)
	}
	line, err := windows.UTF16PtrFromString(commandLine(argv))
	if err != nil {
		return coded(exitcodes.NotExecutable, err)
	}
	block, err := environment(env)
	if err != nil {
		return coded(exitcodes.Failure, err)
	}
	var info windows.ProcessInformation
	flags := uint32(windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT)
	if err := windows.CreateProcess(app, line, nil, nil, true, flags, block, nil, &startup.StartupInfo, &info); err != nil {
		return coded(exitcodes.NotExecutable, fmt.Errorf("%q: cannot be executed: %w", path, err))
	}
	c.pid, c.process = info.ProcessId, info.Process
	defer func() { _ = windows.CloseHandle(info.Thread) }()
	if err := windows.AssignProcessToJobObject(c.job, c.process); err != nil {
		_ = windows.TerminateProcess(c.process, exitcodes.Failure)
		_ = windows.CloseHandle(c.process)
		return coded(exitcodes.Failure, fmt.Errorf("putting %q into its job: %w", path, err))
	}
	_, err = windows.ResumeThread(info.Thread)
	return err
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

func inheritable(f *os.File) (windows.Handle, error) {
	self := windows.CurrentProcess()
	var h windows.Handle
	err := windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &h, 0, true, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return 0, fmt.Errorf("handing on %s: %w", f.Name(), err)
	}
	return h, nil
}

// environment makes the block that CreateProcess takes: sorted without regard
// to case, each entry and the whole ended by a zero.
func environment(env []string) (*uint16, error) {
	sorted := slices.Clone(env)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(strings.ToUpper(a), strings.ToUpper(b)) })
	var block []uint16
	for _, entry := range sorted {
		text, err := windows.UTF16FromString(entry)
		if err != nil {
			return nil, fmt.Errorf("environment entry %q: %w", entry, err)
		}
		block = append(block, text...)
	}
	block = append(block, 0, 0)
	return &block[0], nil
}

// Wait waits for the process to end, for ms milliseconds at most, and reports
// whether it has.
func (c *Process) Wait(ms uint32) (reap.Ending, bool) {
	event, err := windows.WaitForSingleObject(c.process, ms)
	if err != nil {
		return reap.Ending{Err: err}, true
	}
	if event != windows.WAIT_OBJECT_0 {
		return reap.Ending{}, false
	}
	var code uint32
	err = windows.GetExitCodeProcess(c.process, &code)
	return reap.Ending{Code: int(code), Err: err}, true
}

// Interrupt sends Ctrl-Break to the process group, the one event that can be
// sent to a group.
func (c *Process) Interrupt() error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, c.pid)
}

// AwaitUntil is Wait with a duration.
func (c *Process) AwaitUntil(limit time.Duration) (reap.Ending, bool) {
	return c.Wait(uint32(limit / time.Millisecond))
}

// HasEnded reports whether the process has ended.
func (c *Process) HasEnded() bool {
	_, over := c.Wait(0)
	return over
}

// Reap returns how the process has ended.
func (c *Process) Reap() reap.Ending {
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
	_ = limitJob(c.job, 0)
	_ = windows.CloseHandle(c.job)
	_ = windows.CloseHandle(c.process)
}
