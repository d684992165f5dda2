package proc

// This file waits for children by wait4(2) alone, which takes the status of one
// that has ended: its pid may be somebody else's from then on.

import (
	"syscall"
	"time"
)

func becomeSubreaper() bool { return false }

// endedChild knows of no orphans: there are none.
func endedChild() int { return 0 }

func ended(pid int) bool {
	_, over := look(pid, true)
	return over
}

// look returns how a child has ended, and whether it has.
func look(pid int, _ bool) (ending, bool) {
	how, stopped, over := children.poll(pid)
	return how, over && !stopped
}

// stoppedBy returns what has stopped a child, once for each time.
func stoppedBy(pid int) (syscall.Signal, bool) {
	how, stopped, _ := children.poll(pid)
	return how.signal, stopped
}

// livingChildren cannot be told here.
func livingChildren() bool { return true }

func awaitUntil(int, time.Duration) (ending, bool) { return ending{}, false }

// standsStill is not known here; a continuation does no harm.
func standsStill(int) bool { return true }

// processes has no table here: only the process group is ended.
func processes() ([]process, error) { return nil, syscall.ENOSYS }

func nowInTicks() uint64 { return 0 }
