package message

// This file describes targets that are waited for.

import (
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// wanted is what a target is waited for to be.
func wanted(t *event.Target) string {
	if t.Gone {
		return "gone"
	}
	return "ready"
}

// awaited names a target and what it is waited for to be.
func awaited(t *event.Target) string {
	if t.Gone {
		return t.Name + " to be gone"
	}
	return t.Name
}

// Pending says which target is waited for, and why it still is.
func Pending(t *event.Target) string {
	if t.Reason == "" {
		return awaited(t)
	}
	return awaited(t) + ": " + t.Reason
}

// StillPending says what is still waited for, and how long is left.
func StillPending(e *event.TargetsPending) string {
	var names []string
	for i := range e.Pending {
		names = append(names, awaited(&e.Pending[i]))
	}
	text := "still waiting for " + strings.Join(names, ", ")
	if e.Limited {
		text += " (" + Duration(e.Left.Round(time.Second)) + " left)"
	}
	return text
}

// TargetReady says that a target is what was waited for.
func TargetReady(e *event.TargetReady) string {
	return e.Name + " is " + wanted(&e.Target) + " after " + Duration(e.After)
}

// TargetFailed says that a target did not become so, and why.
func TargetFailed(e *event.TargetFailed) string {
	return e.Name + " is not " + wanted(&e.Target) + ": " + e.Reason
}

// SlotPending says that a slot is waited for, and why.
func SlotPending(e *event.SlotPending, left string) string {
	return "waiting for a slot (" + left + " left): " + e.Reason
}
