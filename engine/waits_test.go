package engine

// This file holds the waits that a run really takes, by its events,
// against the contract's table: every curve under every jitter, many seeds. The
// formulas themselves are tested in package backoff; here it is the loop that
// must give them the right wait's number and the wait before.

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
)

const (
	waitsBase = 100 * time.Millisecond
	waitsCap  = 900 * time.Millisecond
)

// bounds are the least and the greatest wait n after the wait previous, by the
// contract's words, in nanoseconds.
func bounds(plain float64, j backoff.Jitter, previous time.Duration) (low, high float64) {
	d := min(plain, float64(waitsCap))
	switch j.Kind {
	case backoff.Full:
		return 0, d
	case backoff.Equal:
		return d / 2, d
	case backoff.Decorrelated:
		return float64(waitsBase), min(float64(waitsCap), 3*float64(previous))
	case backoff.Percent:
		d = min(d, float64(waitsCap)/(1+j.P/100))
		return d * (1 - j.P/100), d * (1 + j.P/100)
	default:
		return d, d
	}
}

func TestWaitsOfARunKeepToTheTable(t *testing.T) {
	curves := map[string]struct {
		curve  backoff.Curve
		factor [7]float64 // of base, for the waits 1 to 7
	}{
		"exponential": {backoff.Exponential(2), [7]float64{1, 2, 4, 8, 16, 32, 64}},
		"linear":      {backoff.Linear, [7]float64{1, 2, 3, 4, 5, 6, 7}},
		"constant":    {backoff.Constant, [7]float64{1, 1, 1, 1, 1, 1, 1}},
		"fibonacci":   {backoff.Fibonacci, [7]float64{1, 1, 2, 3, 5, 8, 13}},
	}
	jitters := []backoff.Jitter{{Kind: backoff.Full}, {Kind: backoff.Equal}, {Kind: backoff.Decorrelated},
		{Kind: backoff.None}, {Kind: backoff.Percent, P: 25}, {Kind: backoff.Percent, P: 100}}
	for name, c := range curves {
		for _, jitter := range jitters {
			for seed := range uint64(30) {
				synctest.Test(t, func(t *testing.T) {
					e, s, r := newConfig(exit1)
					e.Policy.Attempts = len(c.factor) + 1
					e.Policy.Schedule = backoff.Schedule{Curve: c.curve, Jitter: jitter, Base: waitsBase, Cap: waitsCap}
					e.Draw = rand.New(rand.NewPCG(seed, 0)).Float64
					e.Run(context.Background())
					previous, n := waitsBase, 0
					for _, ev := range r.events {
						ev, ok := ev.(*event.RetryWaited)
						if !ok {
							continue
						}
						low, high := bounds(float64(waitsBase)*c.factor[n], jitter, previous)
						if w := float64(ev.Jittered); w < math.Floor(low) || w > math.Ceil(high) ||
							ev.Jittered > waitsCap {
							t.Fatalf("%s %+v seed %d: wait %d is %v, outside [%v, %v]", name, jitter, seed, n+1,
								ev.Jittered, time.Duration(low), time.Duration(high))
						}
						n++
						if ev.Slept != ev.Jittered || s.started[n].Sub(s.started[n-1]) != ev.Jittered {
							t.Fatalf("%s %+v: wait %d of %v took %v", name, jitter, n, ev.Jittered, ev.Slept)
						}
						previous = ev.Jittered
					}
					if n != len(c.factor) {
						t.Fatalf("%d waits", n)
					}
				})
			}
		}
	}
}

// TestExpiresBoundsTheRun: the deadline of the retry around this one holds like
// one's own, whichever comes first.
func TestExpiresBoundsTheRun(t *testing.T) {
	for _, c := range []struct{ own, outer, want time.Duration }{
		{0, time.Minute, time.Minute}, {time.Second, time.Minute, time.Second}, {time.Hour, time.Minute, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, s, _ := newConfig(attempt.Result{})
			begun := time.Now()
			e.Policy.Deadline, e.Expires = c.own, begun.Add(c.outer)
			e.Run(context.Background())
			if got := s.specs[0].Deadline.Sub(begun); got != c.want {
				t.Errorf("own %v, outer %v: ends after %v, want %v", c.own, c.outer, got, c.want)
			}
		})
	}
}

// TestLateWakeUpEndsNoOtherWait: a USR1 that comes as an attempt starts is not
// kept for the wait after it.
func TestLateWakeUpEndsNoOtherWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _, r := newConfig(exit1, exit0)
		woken := make(chan struct{}, 1)
		woken <- struct{}{}
		e.Signals.Woken = woken
		e.Run(context.Background())
		for _, ev := range r.events {
			if ev, ok := ev.(*event.RetryWaited); ok && ev.Slept != ev.Jittered {
				t.Errorf("slept %v of %v", ev.Slept, ev.Jittered)
			}
		}
	})
}
