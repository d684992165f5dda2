package spawn

// This file starts a process inside a job object, so that whatever it starts
// can be ended with it.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
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
}

// Start starts argv with the given files as its standard streams, in a job and
// a console process group of its own.
// inherit are handles that the process gets too, under their own numbers.
func Start(argv, env []string, files [3]*os.File, inherit []uintptr) (*Process, error) {
	path, err := LookUp(argv[0])
	if err != nil {
		return nil, err
	}
	job, err := newJob()
	if err != nil {
		return nil, &exitcodes.Error{Code: exitcodes.Failure, Err: err}
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

func LookUp(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return path, nil
	case errors.Is(err, os.ErrPermission):
		return "", &exitcodes.Error{Code: exitcodes.NotExecutable, Err: fmt.Errorf("%q: cannot be executed: %w", name, err)}
	}
	if info, err := os.Stat(name); err == nil && strings.ContainsAny(name, `\/`) {
		why := "its name does not end as PATHEXT asks for"
		if info.IsDir() {
			why = "is a directory"
		}
		return "", &exitcodes.Error{Code: exitcodes.NotExecutable, Err: fmt.Errorf("%q: cannot be executed: %s", name, why)}
	}
	return "", &exitcodes.Error{Code: exitcodes.NotFound, Err: fmt.Errorf("%q: not found in PATH", name)}
}

// newJob makes a job that ends with its last handle, that is with this program.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("creating a job object: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("setting up a job object: %w", err)
	}
	return job, nil
}

// create starts the process suspended, so that it starts nothing before it is
// in the job.
func (c *Process) create(path string, argv, env []string, files [3]*os.File) error {
	var handles [3]windows.Handle
	for i, f := range files {
		h, err := inheritable(f)
		if err != nil {
			return &exitcodes.Error{Code: exitcodes.Failure, Err: err}
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
		return &exitcodes.Error{Code: exitcodes.Failure, Err: fmt.Errorf("handing on the standard streams: %w", err)}
	}
	startup := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	startup.Cb, startup.Flags = uint32(unsafe.Sizeof(startup)), windows.STARTF_USESTDHANDLES
	startup.StdInput, startup.StdOutput, startup.StdErr = handles[0], handles[1], handles[2]
	app, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return &exitcodes.Error{Code: exitcodes.NotFound, Err: err}
	}
	line, err := windows.UTF16PtrFromString(commandLine(argv))
	if err != nil {
		return &exitcodes.Error{Code: exitcodes.NotExecutable, Err: err}
	}
	block, err := environment(env)
	if err != nil {
		return &exitcodes.Error{Code: exitcodes.Failure, Err: err}
	}
	var info windows.ProcessInformation
	flags := uint32(windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT)
	if err := windows.CreateProcess(app, line, nil, nil, true, flags, block, nil, &startup.StartupInfo, &info); err != nil {
		return &exitcodes.Error{Code: exitcodes.NotExecutable, Err: fmt.Errorf("%q: cannot be executed: %w", path, err)}
	}
	c.pid, c.process = info.ProcessId, info.Process
	defer func() { _ = windows.CloseHandle(info.Thread) }()
	if err := windows.AssignProcessToJobObject(c.job, c.process); err != nil {
		_ = windows.TerminateProcess(c.process, exitcodes.Failure)
		_ = windows.CloseHandle(c.process)
		return &exitcodes.Error{Code: exitcodes.Failure, Err: fmt.Errorf("putting %q into its job: %w", path, err)}
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
	sorted := append([]string(nil), env...)
	sort.SliceStable(sorted, func(i, j int) bool { return strings.ToUpper(sorted[i]) < strings.ToUpper(sorted[j]) })
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

// Living returns how many processes of the job are left.
func (c *Process) Living() int {
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

func (c *Process) Terminate() { _ = windows.TerminateJobObject(c.job, uint32(exitcodes.OfSignal(9))) }

// Close lets go of the process. What it left behind lives on unless the job's
// limits still say otherwise.
func (c *Process) Close() {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	_, _ = windows.SetInformationJobObject(c.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	_ = windows.CloseHandle(c.job)
	_ = windows.CloseHandle(c.process)
}
