//go:build unix

package option

// This file runs a string by the system's shell.

// shellArgv is the command that has the shell run text; args are its positional
// parameters from $1 on, and $0 is this program's name (POSIX, sh -c).
func shellArgv(text string, args []string) []string {
	return append([]string{"/bin/sh", "-c", text, "retry"}, args...)
}
