//go:build unix

package proc

// This file replaces the program by a command.

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/exitcodes"
)

// Exec replaces the program by a command, which keeps the pid and gets the
// original dispositions, mask, limits and descriptors. It returns only with
// the reason why it could not, and the exit code for it. Probes may
// have run before, attempts not: these make the program a subreaper, which
// the command would stay.
//
// A signal that asks for the end is not lost on the way: one that was caught
// before ends the program here, one that comes later finds an action in place
// that ends the program or, after the exec, its own default one.
func Exec(s *Signals, argv, env []string) (int, error) {
	if sig := s.RestoreAll(); sig != "" {
		signals.Die(sig)
		return signals.ExitCode(sig), errors.New("ended by " + string(sig))
	}
	process.Orphans() // the command would not know them
	err := process.Each(argv, func(path string, argv []string) error { return syscall.Exec(path, argv, env) })
	return exitcodes.Of(err), err
}

// LookUp returns the error that Exec would end with for a command that is not
// there, or that is not to be executed.
func LookUp(name string) error {
	return process.Each([]string{name}, func(path string, _ []string) error {
		var file unix.Stat_t
		if err := unix.Stat(path, &file); err != nil {
			return err
		}
		if file.Mode&unix.S_IFMT != unix.S_IFREG {
			return syscall.EACCES
		}
		if err := unix.Access(path, unix.X_OK); err != nil {
			return err
		}
		if script := process.Interpreter(path); script != "" {
			return unix.Stat(script, &file)
		}
		return nil
	})
}
