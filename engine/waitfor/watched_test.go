package waitfor

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// life is a target of While that is ready until a time; each look takes a while.
type life struct {
	until time.Time
	takes time.Duration
	looks atomic.Int32
	off   atomic.Int32 // looks whose number is not theirs
}

func (l *life) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result {
		if l.looks.Add(1) != int32(spec.Number) {
			l.off.Add(1)
		}
		ctx, cancel := context.WithTimeout(ctx, spec.Timeout)
		defer cancel()
		select {
		case <-time.After(l.takes):
		case <-ctx.Done():
			return attempt.Result{ExitCode: 124, TimedOut: true}
		}
		if time.Now().Before(l.until) {
			return attempt.Result{ExitCode: 1, Note: "still ready"}
		}
		return attempt.Result{Note: "gone"}
	})
}

func TestWhile(t *testing.T) {
	for name, c := range map[string]struct {
		lives, takes time.Duration
		ready        int // the target, at this try
		after        time.Duration
		tries        []time.Duration
		events       []string
	}{
		"dead at first": {lives: 0, ready: 1, after: 0,
			events: []string{"p failed: gone", "a failed: was not tried"}},
		"slow at first": {lives: time.Hour, takes: time.Second, ready: 1, after: 1500 * time.Millisecond,
			tries: ms(1000), events: []string{"a ready after 1s"}},
		"dies in a wait": {lives: 450 * time.Millisecond, ready: 9, after: 500 * time.Millisecond,
			tries: ms(0, 100, 300), events: []string{"a: down", "p failed: gone", "a failed: down"}},
		"outlives the wait": {lives: time.Hour, ready: 3, after: 300 * time.Millisecond,
			tries: ms(0, 100, 300), events: []string{"a: down", "a ready after 300ms"}},
		"both come together": {lives: 300 * time.Millisecond, ready: 3, after: 300 * time.Millisecond,
			tries: ms(0, 100, 300), events: []string{"a: down", "a ready after 300ms", "p failed: gone"}},
		"no answer says nothing": {lives: 0, takes: time.Hour, ready: 1, after: 3500 * time.Millisecond,
			tries: ms(3000), events: []string{"a ready after 3s"}},
		"dies before a slow look": {lives: 350 * time.Millisecond, takes: 100 * time.Millisecond, ready: 3,
			after: 500 * time.Millisecond, tries: ms(100, 200, 400),
			events: []string{"a: down", "a ready after 400ms", "p failed: gone"}},
		"a look that is under way": {lives: 0, takes: 2900 * time.Millisecond, ready: 3,
			after: 2900 * time.Millisecond, events: []string{"p failed: gone", "a failed: was not tried"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWaiting(&target{name: "a", ready: c.ready})
				w.While = []Watched{{Name: "p", Starter: &life{until: time.Now().Add(c.lives), takes: c.takes},
					Every: 500 * time.Millisecond}}
				r := w.run()
				check(t, "events", w.events, c.events)
				check(t, "tries", w.at(0), c.tries)
				if failed := c.events[len(c.events)-1][0] == 'p' || c.events[0][0] == 'p' || len(c.events) == 3 &&
					name != "outlives the wait"; r.Ready == failed || r.Waited > c.after {
					t.Errorf("%+v, want it over after %v", r, c.after)
				}
			})
		})
	}
}

// A target is looked at all the time, and no more once the wait is over.
func TestWhileIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &life{until: time.Now().Add(time.Hour)}
		w := newWaiting(&target{name: "a"})
		w.While, w.Limit = []Watched{{Name: "p", Starter: l, Every: 470 * time.Millisecond}}, 10*time.Second
		if r := w.run(); r.Ready || r.DeadlinePassed {
			t.Errorf("%+v", r)
		}
		looks := l.looks.Load()
		if looks < 19 || looks > 22 {
			t.Errorf("%d looks in %v", looks, w.Limit)
		}
		time.Sleep(time.Minute)
		if l.looks.Load() != looks || l.off.Load() != 0 {
			t.Errorf("%d looks after the wait, %d with a wrong number", l.looks.Load()-looks, l.off.Load())
		}
	})
}

// The end of a watched target breaks off the try under way, and waits for its end.
func TestWhileEndsTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(&target{name: "a", takes: 2 * time.Second, ends: 20 * time.Millisecond})
		w.While = []Watched{{Name: "p", Starter: &life{until: time.Now().Add(450 * time.Millisecond)},
			Every: 500 * time.Millisecond}}
		r := w.run()
		check(t, "events", w.events, []string{"p failed: gone", "a failed: was not tried"})
		check(t, "waited", r.Waited, 520*time.Millisecond)
	})
}

// A wait that is over before it begins ends at once.
func TestWhileCancelledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(&target{name: "a", ready: 1})
		w.While = []Watched{{Name: "p", Starter: &life{}, Every: time.Second}}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		check(t, "waited", w.Run(ctx, func(event.Event) {}).Waited, time.Duration(0))
	})
}
