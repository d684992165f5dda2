package simulate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/guard"
)

func TestLeastOf(t *testing.T) {
	for _, from := range []int{0, 1, 5, 99} {
		for _, truth := range []int{1, 2, 6, 7, 100, 999, 1000, 1001} {
			want := max(truth, from+1)
			if truth > 1000 {
				want = 0
			}
			asked := 0
			got := leastOf(from, 1000, func(n int) bool { asked++; return n >= truth })
			if got != want || asked > 25 {
				t.Errorf("from %d: %d after %d questions, want %d", from, got, asked, want)
			}
		}
	}
}

// What is needed is enough, and one less is not.
func TestNeeds(t *testing.T) {
	o := Outage{Clients: 60, Capacity: 30, Down: time.Minute, AttemptTime: 50 * time.Millisecond, Queue: time.Second}
	draw := func() func() float64 { return rand.New(rand.NewPCG(1, 0)).Float64 }
	for _, jitter := range []backoff.JitterKind{backoff.None, backoff.Full, backoff.Equal, backoff.Decorrelated} {
		p := engine.Policy{Attempts: 5,
			Schedule: backoff.Schedule{Curve: backoff.Exponential(2), Base: time.Second, Cap: 30 * time.Second,
				Jitter: backoff.Jitter{Kind: jitter}}}
		h := o.Run(p, guard.Guards{}, draw())
		need := h.Needs(p, guard.Guards{}, draw)
		if need == nil || need.ByDeadline || need.Attempts <= 5 {
			t.Errorf("%v: %+v", jitter, need)
			continue
		}
		for n, want := range map[int]bool{need.Attempts: true, need.Attempts - 1: false} {
			q := p
			q.Attempts = n
			if h := o.Run(q, guard.Guards{}, draw()); h.enough() != want {
				t.Errorf("%v: with %d attempts %d finish", jitter, n, h.Finished)
			}
		}
		q := p
		q.Attempts, q.Deadline = 0, 20*time.Second
		h = o.Run(q, guard.Guards{}, draw())
		if need = h.Needs(q, guard.Guards{}, draw); need == nil || !need.ByDeadline || need.Deadline < time.Minute {
			t.Errorf("%v: %+v with a deadline", jitter, need)
		}
		q = p
		q.Schedule.Base, q.Schedule.Cap = 0, 0
		h = o.Run(q, guard.Guards{}, draw())
		if need = h.Needs(q, guard.Guards{}, draw); need == nil || need.Attempts != 0 {
			t.Errorf("%v: %+v without waits", jitter, need)
		}
		q = p
		q.Attempts = 0
		h = o.Run(q, guard.Guards{}, draw())
		if need = h.Needs(q, guard.Guards{}, draw); need != nil {
			t.Errorf("%v: %+v where all finish", jitter, need)
		}
	}
}
