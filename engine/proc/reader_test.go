//go:build unix

package proc

// This file tests what is decided about a reader of the output that is slow.

import (
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/stdio"
)

// A reader that takes nothing is waited for without a limit while nothing ends the attempt.
func TestPatience(t *testing.T) {
	past, future := time.Now().Add(-time.Second), time.Now().Add(time.Hour)
	for _, c := range []struct {
		a    running
		want time.Duration
	}{
		{running{}, 0},
		{running{spec: attempt.Spec{Deadline: future}}, 0},
		{running{spec: attempt.Spec{Deadline: past}}, stdio.Patience},
		{running{late: true}, stdio.Patience},
		{running{result: attempt.Result{Cancelled: "SIGTERM"}}, stdio.Patience},
		{running{result: attempt.Result{DeadlinePassed: true}}, stdio.Patience},
		{running{result: attempt.Result{TimedOut: true}}, readerGrace},
		{running{result: attempt.Result{TimedOut: true}, spec: attempt.Spec{Deadline: future}}, readerGrace},
		{running{result: attempt.Result{TimedOut: true}, late: true}, stdio.Patience},
	} {
		if got := c.a.patience(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.a, got, c.want)
		}
	}
}

// shown is what looks at a pump see.
type shown struct {
	taken         int64
	writing, idle bool
}

func (s *shown) Taken() int64    { return s.taken }
func (s *shown) IsWriting() bool { return s.writing }
func (s *shown) IsIdle() bool    { return s.idle }

// A reader is given up if it takes nothing for longer than it may, from the moment on from which
// there is a limit, counted in looks. After a late signal the output counts as read if two looks
// in a row find nothing to pass on.
func TestReader(t *testing.T) {
	const patience = 3 * readerLook
	kinds := map[rune]struct {
		shown
		patience time.Duration
		late     bool
	}{
		'n': {shown{writing: true}, 0, false}, // no limit
		'w': {shown{writing: true}, patience, false},
		't': {shown{writing: true, taken: 1}, patience, false}, // has taken something
		'r': {shown{}, patience, false},                        // the pump reads
		'R': {shown{}, patience, true},
		'i': {shown{idle: true}, patience, false},
		'I': {shown{idle: true}, patience, true},
	}
	for looks, want := range map[string]string{ // what is known after the last look, and not before
		"nnnnn": "", "www": "stuck", "tttt": "stuck", "wwtttt": "stuck", "wwrwww": "stuck", "nnnnwww": "stuck",
		"iiiii": "", "II": "whole", "iiI": "whole", "IRII": "whole", "rrrrr": "", "RRRRR": "",
	} {
		pump := new(shown)
		r := &reader{output: pump}
		for i, kind := range looks {
			look := kinds[kind]
			*pump = look.shown
			over, known := r.look(look.patience, look.late), ""
			if i == len(looks)-1 {
				known = want
			}
			if over != (known != "") || r.stuck != (known == "stuck") || r.hasAll != (known == "whole") {
				t.Errorf("%s, look %d: %t, %+v; want %q", looks, i+1, over, r, known)
			}
		}
	}
}
