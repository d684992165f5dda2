// Package early notes the signals that ask for the end from the program's first
// moment on: importing it is all. What is noted waits for proc.Listen, or for
// proc.LetGo where nothing is run.
//
// Until they are caught, Go's runtime answers such a signal itself: QUIT by
// printing every stack, and any as PID 1, which cannot die of it, by exiting with
// 2. Initialising the packages that are linked takes a millisecond; this one
// depends on nothing that has to be initialised before, and so is among the
// first. What is left is the time until the runtime itself has started.
//
// It also takes the first goroutine's stack once. Grown step by step, from 2 to
// 16 KiB and as often copied with ever more functions on it, it costs 2 % of the
// time and of the CPU of a whole start (800 paired rounds; 8, 32 and 64 KiB at
// once are no better than 16).
package early

import "github.com/retrysh/retry/engine/proc/note"

func init() {
	deep(0)
	for _, sig := range []int{1, 2, 3, 15} { // HUP, INT, QUIT and TERM, on every Linux
		if !note.Ignored(sig) {
			note.Start(sig)
		}
	}
}

// deep needs the stack that a start needs at its deepest.
//
//go:noinline
func deep(i int) byte {
	var frame [8 << 10]byte
	return frame[i]
}
