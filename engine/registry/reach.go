package registry

// This file ends the wait of a run, or the run, by signals to its program.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/lockedfile"
)

// Send sends a signal to a process if meant still reports that it is the one: pids
// are reused.
type Send func(pid int, meant func() bool, s attempt.Signal) error

const (
	poll = 2 * time.Millisecond
	// The run may take so long.
	wakeLimit   = 2 * time.Second
	cancelLimit = 10 * time.Second
)

// meant reports whether the program that was seen still holds the record.
func (e *Entry) meant() bool {
	now, err := look(e.path)
	return err == nil && now.Lives() && now.Holder == e.Holder
}

// Unreachable says why the program cannot be signalled, nil if it can.
func (e *Entry) Unreachable() error {
	if e.Holder > 0 {
		return nil
	}
	why := "its program is in another PID namespace and cannot be signalled from here"
	if runtime.GOOS == "windows" { // whose lock does not name its holder
		why = "Windows has no signal that its program would handle"
	}
	return errors.New(why)
}

// markOf is the file which says that a USR1 is for the program, not for its command.
func markOf(path string) string { return strings.TrimSuffix(path, recordEnd) + wakeEnd }

// cancelOf is the file which says that a TERM cancels the run and does not park it.
func cancelOf(path string) string { return strings.TrimSuffix(path, recordEnd) + cancelEnd }

// IsCancelled reports whether --cancel has asked for the end of the run.
func (r *Record) IsCancelled() bool {
	mark := r.mark.Load()
	if mark == nil {
		return false
	}
	_, err := os.Lstat(strings.TrimSuffix(*mark, wakeEnd) + cancelEnd)
	return err == nil
}

// TakeWakeMark reports whether a USR1 was sent to end a wait, and takes the mark that says so.
func (r *Record) TakeWakeMark() bool {
	mark := r.mark.Load()
	return mark != nil && os.Remove(*mark) == nil
}

// WaitForWakers waits until no process is about to wake the run. It is called when the record
// is removed and before the process becomes another program, which a USR1 might end.
func (r *Record) WaitForWakers() {
	mark := r.mark.Load()
	if mark == nil {
		return
	}
	for end := time.Now().Add(wakeLimit); time.Now().Before(end); time.Sleep(poll) {
		if _, err := os.Lstat(*mark); err != nil {
			return
		}
	}
}

// Wake ends the wait that the run is in, and returns when the run has left it. One
// process at a time wakes a run, so that each USR1 finds a mark. A mark that the program
// has not taken stays for the signal that is under way.
func (e *Entry) Wake(send Send) error {
	switch {
	case e.NextAttemptAt != nil:
	case e.Status == Pending:
		return errors.New("it waits for targets")
	case e.Status == Waiting:
		return errors.New("it is between a wait and an attempt: a hook runs, or it waits for a target or for a slot")
	default:
		return errors.New("an attempt is running")
	}
	if err := e.Unreachable(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wakeLimit)
	defer cancel()
	mark, err := lockedfile.OpenLocked(ctx, markOf(e.path), true)
	if err != nil {
		return err
	}
	defer mark.Unlock()
	// The mark is there first: a run that becomes another program removes its record
	// and then waits until there is no mark.
	sent := !e.left()
	if sent {
		err = send(e.Holder, e.meant, "SIGUSR1")
	}
	if !sent || err != nil {
		_ = os.Remove(markOf(e.path))
		if e.left() {
			err = nil
		}
		return err
	}
	for ctx.Err() == nil {
		taken, err := mark.Check()
		switch left := e.left(); {
		case left && (taken || err != nil):
			return nil
		case left && !e.meant():
			_ = os.Remove(markOf(e.path))
			return nil
		}
		time.Sleep(poll)
	}
	if e.left() {
		return nil
	}
	return fmt.Errorf("the wait has not ended within %s", wakeLimit)
}

// left reports whether the run has left the wait that it was seen in.
func (e *Entry) left() bool {
	now, err := look(e.path)
	if err != nil || now.NextAttemptAt == nil || now.Attempt != e.Attempt {
		return true
	}
	return !now.NextAttemptAt.Equal(e.NextAttemptAt.Time)
}

// Cancel asks the program to end, and returns when the kernel has freed its lock. A
// program that was stopped is continued.
func (e *Entry) Cancel(send Send) error {
	if err := e.Unreachable(); err != nil {
		return err
	}
	file, err := lockedfile.View(e.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer func() { file.Close() }()
	// The mark is there first. The run removes it with its record: the command of an attempt
	// may take longer than this process waits.
	mark, err := lockedfile.Open(cancelOf(e.path), true)
	if err != nil {
		return err
	}
	mark.Close()
	defer func() {
		if !e.meant() {
			_ = os.Remove(cancelOf(e.path))
		}
	}()
	for _, s := range [...]attempt.Signal{"SIGTERM", "SIGCONT"} {
		if err := send(e.Holder, e.meant, s); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	for end := time.Now().Add(cancelLimit); time.Now().Before(end); time.Sleep(poll) {
		if _, held, err := file.Holder(); held || err != nil {
			continue
		}
		now, err := look(e.path)
		if err != nil || !now.Lives() {
			return nil
		}
		// Its record was made anew.
		if again, err := lockedfile.View(e.path); err == nil {
			file.Close()
			file = again
		}
	}
	return fmt.Errorf("it has not ended within %s", cancelLimit)
}
