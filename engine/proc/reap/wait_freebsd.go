package reap

// This file waits for children by wait4(2) alone, which takes the status of one
// that has ended: its pid may be somebody else's from then on.

import (
	"syscall"
	"time"
)

func becomeSubreaper() bool { return false }

// endedChild knows of no orphans: there are none.
func endedChild() int { return 0 }

func HasEnded(pid int) bool {
	_, over := Look(pid, true)
	return over
}

// Look returns how a child has ended, and whether it has.
func Look(pid int, _ bool) (Ending, bool) {
	how, stopped, over := poll(pid)
	return how, over && !stopped
}

// StoppedBy returns what has stopped a child, once for each time.
func StoppedBy(pid int) (syscall.Signal, bool) {
	how, stopped, _ := poll(pid)
	return how.Signal, stopped
}

// LivingChildren cannot be told here.
func LivingChildren() bool { return true }

func AwaitUntil(int, time.Duration) (Ending, bool) { return Ending{}, false }

// StandsStill is not known here; a continuation does no harm.
func StandsStill(int) bool { return true }
