// Package early notes the signals that ask for the end from the program's first
// moment on: importing it is all. What is noted waits for proc.Listen, or for
// proc.RestoreDispositions where nothing is run.
//
// Until they are caught, Go's runtime answers such a signal itself: QUIT by
// printing every stack, and any as PID 1, which cannot die of it, by exiting with
// 2. Initialising the packages that are linked takes a millisecond; this one
// depends on package note alone, and so is among the first. It is no part of
// package note, since a test binary that imports it would ignore Ctrl-C.
package early

import "github.com/retrysh/retry/engine/proc/note"

func init() {
	for _, sig := range []int{1, 2, 3, 15} { // HUP, INT, QUIT and TERM, on every Linux
		note.Start(sig)
	}
}
