// Package exitcodes holds every code that the program can end with, each with its meaning,
// and an error that carries one. main exits, once.
//
// The numbers are those that scripts know: 124 to 127 of coreutils timeout and env, 128+n
// of POSIX shells for signal n, 75 of sysexits.h.
package exitcodes

import (
	"errors"
	"slices"
)

// The program's own codes. Every other code is the command's own.
const (
	OK = 0
	// Rejected: the last attempt exited 0, but an --until-* or --fail-on-*
	// pattern, or --success-on-exit, said otherwise.
	Rejected = 1
	// Refused: a guard let no attempt through (EX_TEMPFAIL in sysexits.h).
	Refused = 75
	// Timeout: the last attempt was ended by --timeout or --deadline, or a
	// --wait-for target never became ready.
	Timeout = 124
	// Failure: a usage error, or the program itself failed.
	Failure = 125
	// NotExecutable: the command was found but could not be executed.
	NotExecutable = 126
	// NotFound: the command, or its interpreter, was not found.
	NotFound = 127
)

// OfSignal returns the code by which the common shells show a death by signal n (POSIX sh,
// "Exit Status for Commands").
func OfSignal(n int) int { return 128 + n }

// signals are those whose numbers are the same on every system that the program is
// built for: POSIX (kill) says so of HUP, INT, QUIT, ABRT, KILL, ALRM and TERM.
var signals = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE", 9: "SIGKILL",
	11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
}

// SignalNumber returns the number of a signal that has the same one everywhere, by
// its name such as "SIGTERM", and whether it is one of these.
func SignalNumber(name string) (int, bool) {
	n := max(0, slices.Index(signals[:], name))
	return n, n > 0
}

// SignalName is SignalNumber the other way round.
func SignalName(number int) (string, bool) {
	if number < 0 || number >= len(signals) {
		return "", false
	}
	return signals[number], signals[number] != ""
}

// Error is an error that knows the code to exit with.
type Error struct {
	Code int
	Err  error
}

// Error returns the text of the error within.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error within.
func (e *Error) Unwrap() error { return e.Err }

// Of returns the code that err asks for: 0 for nil, the code of the first Error in its
// chain, Failure otherwise.
func Of(err error) int {
	if err == nil {
		return OK
	}
	if coded, ok := errors.AsType[*Error](err); ok {
		return coded.Code
	}
	return Failure
}
