package message

// This file has the words for what lasts, which a terminal shows as long as it does: a wait
// with the time that is left, as the caller writes it, and the attempt that runs.

import (
	"fmt"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// Countdown is how long the wait lasts at most that an event begins, and what is said of it
// with the time that is left; nil if it begins none. For targets, the caller chooses how many
// WaitingFor names.
func Countdown(e event.Event) (lasts time.Duration, text func(left string) string) {
	switch e := e.(type) {
	case *event.InitialWait:
		return e.Wait, firstTry
	case *event.RetryScheduled:
		following := e.Header
		following.Attempt++
		attempt := "attempt " + Position(&following) + " in "
		return e.Jittered, func(left string) string { return attempt + left }
	case *event.SlotPending:
		return e.Left, func(left string) string { return slotPending(e, left) }
	}
	return 0, nil
}

func firstTry(left string) string { return "first try in " + left }

// slotPending says that a slot or a turn is waited for, and why.
func slotPending(e *event.SlotPending, left string) string {
	if e.Turn {
		return "waiting for its turn (in " + left + "): " + e.Reason
	}
	return "waiting for a slot (" + left + " left): " + e.Reason
}

// WaitingFor says what is waited for, and how long is left; "" is no limit.
func WaitingFor(what, left string) string {
	if left != "" {
		return "waiting (" + left + " left) for " + what
	}
	return "waiting for " + what
}

// Running says how long an attempt has run, and which limit comes next. Attempts that are
// counted have the number of those that failed.
func Running(e *event.AttemptStarted, deadline, now time.Time) string {
	text := "attempt " + Position(&e.Header) + " runs"
	if e.Repeats {
		text = fmt.Sprintf("%s, %d failed", Position(&e.Header), e.Failed)
	}
	ran := now.Sub(e.Time).Truncate(time.Second)
	if ran <= 0 {
		return text
	}
	text += ": " + Limit(ran)
	limit, end := "timeout", e.Time.Add(e.Timeout)
	if e.Timeout == 0 || !deadline.IsZero() && deadline.Before(end) {
		limit, end = "deadline", deadline
	}
	if left := end.Sub(now).Round(time.Second); !end.IsZero() && left >= 0 {
		text += ", " + limit + " in " + Limit(left)
	}
	return text
}
