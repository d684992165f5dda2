package guard

// This file holds what is shown of guards: refusals in words, and the status of a key.

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestReasons holds each refusal to its sentence: which guard, its figures, and when it will
// admit an attempt, if that is known.
func TestReasons(t *testing.T) {
	g := &Guards{
		Breaker: Breaker{Rate: 1, Probes: 2}, Budget: Budget{On: true, Ratio: 100_000, Min: 3, Window: 60_000},
		Tokens: Tokens{Capacity: 500}, Slots: Slots{N: 4},
		RateLimit: RateLimit{Interval: 200_000, Rate: "5/s", Wait: -1},
	}
	one := &Guards{Breaker: Breaker{Row: 1, Probes: 1}, Budget: Budget{On: true, Min: 1, Window: 10_000},
		Tokens: Tokens{Capacity: 1}, RateLimit: RateLimit{Interval: 1500, Wait: 0}}
	waits := &Guards{RateLimit: RateLimit{Interval: 200_000, Rate: "5/s", Wait: 2500}}
	for want, c := range map[string]struct {
		g *Guards
		r Refusal
	}{
		`the breaker of "k" is open: 7 of 10 attempts failed; the next may pass in 1.5s`: {g,
			Refusal{Guard: KindBreaker, Circuit: Open, Failures: 7, Outcomes: 10, Openings: 1, RetryIn: 1500}},
		`the breaker of "k" is open: 1 of 1 attempt failed; the next may pass in 0s`: {one,
			Refusal{Guard: KindBreaker, Circuit: Open, Failures: 1, Outcomes: 1, Openings: 1}},
		`the breaker of "k" is open: 7 of 10 attempts failed, and 1 probe failed since`: {g,
			Refusal{Guard: KindBreaker, Circuit: Open, Failures: 7, Outcomes: 10, Openings: 2, RetryIn: -1}},
		`the breaker of "k" is open: 7 of 10 attempts failed, and 2 probes failed since`: {g,
			Refusal{Guard: KindBreaker, Circuit: Open, Failures: 7, Outcomes: 10, Openings: 3, RetryIn: -1}},
		`the breaker of "k" is half-open, and 2 of 2 probes are under way; the next may pass in 10s`: {g,
			Refusal{Guard: KindBreaker, Circuit: HalfOpen, Probes: 2, RetryIn: 10_000}},
		`the breaker of "k" is half-open, and 1 of 1 probe is under way; the next may pass in 10s`: {one,
			Refusal{Guard: KindBreaker, Circuit: HalfOpen, Probes: 1, RetryIn: 10_000}},
		`the retry budget of "k" is spent: 4 retries in the last 1m0s, and the limit for 35 runs is 3.5; the ` +
			`next may pass in 6s`: {g, Refusal{Guard: KindBudget, Retries: 4, Runs: 35, RetryIn: 6000}},
		`the retry budget of "k" is spent: 1 retry in the last 10s, and the limit for 1 run is 1`: {
			one, Refusal{Guard: KindBudget, Retries: 1, Runs: 1, RetryIn: -1},
		},
		`the bucket of "k" is too empty: it holds 4.5 of 500 tokens, and a retry takes 5; the next may pass in 50ms`: {
			g, Refusal{Guard: KindTokens, Left: 4_500_000, Cost: 5, RetryIn: 50},
		},
		`the bucket of "k" is too empty: it holds 100 of 500 tokens, and a retry takes 5 and has to leave 100`: {
			g, Refusal{Guard: KindTokens, Left: 100_000_000, Kept: 100_000_000, Cost: 5, RetryIn: -1},
		},
		`the bucket of "k" is too empty: it holds 0 of 1 token, and a retry takes 5`: {
			one, Refusal{Guard: KindTokens, Cost: 5, RetryIn: -1},
		},
		`no slot of "k" is free: 4 held, and --max-concurrent is 4`: {
			g, Refusal{Guard: KindSlots, Held: 4, RetryIn: -1},
		},
		`no slot of "k" is free: 1 held, and --max-concurrent is 4; held by run 1b4e28ba`: {
			g, Refusal{Guard: KindSlots, Held: 1, Holder: "run 1b4e28ba", RetryIn: -1},
		},
		`no slot of "k" is free: 4 held, and --max-concurrent is 4; held by run 1b4e28ba, and 3 more`: {
			g, Refusal{Guard: KindSlots, Held: 4, Holder: "run 1b4e28ba", RetryIn: -1},
		},
		`attempts of "k" start at 5/s; its next turn is in 200ms`: {
			g, Refusal{Guard: KindRateLimit, RetryIn: 200},
		},
		`attempts of "k" start at 5/s; its next turn is in 3s, and wait= is 2.5s`: {
			waits, Refusal{Guard: KindRateLimit, RetryIn: 3000},
		},
		`attempts of "k" start at 1/1.5ms; its next turn is in 2ms, and wait= is 0s`: {
			one, Refusal{Guard: KindRateLimit, RetryIn: 2},
		},
		`"k" has had 60 successes in the last 100 attempts: that is worth 3 attempts, not more`: {
			g, Refusal{Guard: KindAdaptive, Successes: 60, Outcomes: 100, Attempts: 3, RetryIn: -1},
		},
		`"k" has had 4 successes in the last 10 attempts: that is worth 1 attempt, not more`: {
			g, Refusal{Guard: KindAdaptive, Successes: 4, Outcomes: 10, Attempts: 1, RetryIn: -1},
		},
		``: {
			g, Refusal{Guard: KindStore},
		},
	} {
		if got := c.r.Reason(c.g, "k"); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", c.r, got, want)
		}
	}
}

// status is what --status shows of a state.
func status(t *testing.T, s *State, g *Guards, now int64) string {
	t.Helper()
	text, err := json.Marshal((&Snapshot{State: *s, Held: 2, Now: now}).Status("k", g))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestStatus holds what is shown of a key after some attempts, to a run that names the
// guards and to one that names none.
func TestStatus(t *testing.T) {
	g := &Guards{
		Breaker: Breaker{Rate: 500_000, Min: 4, Window: 60_000, Open: 30_000, Probes: 1},
		Budget:  Budget{On: true, Ratio: 400_000, Window: 60_000},
		Tokens:  Tokens{Capacity: 20, Cost: 5, TimeoutCost: 10, Refill: 500},
		// The next turn of a burst of 2 is free one interval before the next of a burst of 1.
		RateLimit: RateLimit{Interval: 4_000_000, Burst: 2}, Adaptive: true,
	}
	var s State
	attempt := func(outcome Outcome, now int64) {
		a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: now, Turn: true, Patience: -1}, now)
		Do(g, &s, &Request{Op: Report, Pass: a.Pass, Outcome: outcome}, now)
	}
	for i, outcome := range []Outcome{Success, Success, Failure} {
		attempt(outcome, epoch+4000*int64(i))
	}
	Do(g, &s, &Request{Op: Permit, Attempt: 2}, epoch+8000)
	for _, c := range []struct {
		g    *Guards
		now  int64
		want string
	}{
		{g, epoch + 8000, `{"key":"k","breaker":{"state":"closed","failures":1,"outcomes":3,"failures_in_a_row":1,` +
			`"open_until":null},` +
			`"budget":{"used":1,"of":2},"slots":{"held":2},"tokens":{"missing":5,"left":15},"rate_limit":{` +
			`"next_in_ms":0},"adaptive":{"successes":2,"outcomes":3}}`},
		// The bucket is full again, and the windows have passed the first two attempts.
		{g, epoch + 62_000, `{"key":"k","breaker":{"state":"closed","failures":1,"outcomes":1,"failures_in_a_row":1,` +
			`"open_until":null},` +
			`"budget":{"used":1,"of":1},"slots":{"held":2},"tokens":{"missing":0,"left":20},"rate_limit":{` +
			`"next_in_ms":0},"adaptive":{"successes":2,"outcomes":3}}`},
		{&Guards{}, epoch + 11_000, `{"key":"k","breaker":{"state":"closed","failures":null,"outcomes":null,` +
			`"failures_in_a_row":1,"open_until":null},` +
			`"budget":null,"slots":{"held":2},"tokens":{"missing":5,"left":null},"rate_limit":{"next_in_ms":1000}` +
			`,"adaptive":{"successes":2,"outcomes":3}}`},
		{&Guards{Tokens: Tokens{Capacity: 4, Refill: 100}, Breaker: Breaker{Row: 9}}, epoch + 11_000,
			`{"key":"k","breaker":{"state":"closed","failures":null,"outcomes":null,"failures_in_a_row":1,"open_until":null},` +
				`"budget":null,"slots":{"held":2},"tokens":{"missing":4.7,"left":0},"rate_limit":{"next_in_ms":1000}` +
				`,"adaptive":{"successes":2,"outcomes":3}}`},
	} {
		if got := status(t, &s, c.g, c.now); got != c.want {
			t.Errorf("at %d:\n got %s\nwant %s", c.now-epoch, got, c.want)
		}
	}
	attempt(Failure, epoch+12_000)
	for _, c := range []struct {
		g    *Guards
		want string
	}{
		{g, `"breaker":{"state":"open","failures":2,"outcomes":4,"failures_in_a_row":0,` +
			`"open_until":"2027-01-15T08:00:42.000Z"}`},
		{&Guards{}, `"breaker":{"state":"open","failures":2,"outcomes":4,"failures_in_a_row":0,"open_until":null}`},
	} {
		if got := status(t, &s, c.g, epoch+13_000); !strings.Contains(got, c.want) {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
	}
	attempt(Neither, epoch+42_000)
	if got := status(t, &s, g, epoch+42_000); !strings.Contains(got,
		`"state":"half_open","failures":2,"outcomes":4,"failures_in_a_row":0,"open_until":null`) {
		t.Errorf("half-open: %s", got)
	}
}

// TestLookingChangesNothing holds that a status leaves the state as it is, and that a key
// counts as forgotten when the next request would find it new.
func TestLookingChangesNothing(t *testing.T) {
	histories(t, 500, func(t *testing.T, r *rand.Rand) {
		g, s := randomGuards(r), State{}
		now := play(r, g, &s, epoch, 60)
		before := copyOf(t, &s)
		later := now + r.Int64N(2*day)
		snapshot := &Snapshot{State: s, Now: later}
		_ = snapshot.Status("k", randomGuards(r))
		if got, want := snapshot.State.Append(nil), before.Append(nil); !slices.Equal(got, want) {
			t.Errorf("looking made\n%v of\n%v", got, want)
		}
		for _, edge := range []int64{-1, 0, 1} {
			at := s.Used + s.Keep + edge
			found := copyOf(t, &s)
			found.Forgot = greatest / 2 // nothing but a new state changes it
			found.Used, found.Keep = s.Used, s.Keep
			Do(&Guards{}, &found, &Request{Op: Withdraw}, at)
			if forgotten := (&Snapshot{State: s, Now: at}).Forgotten(); forgotten != (found.Forgot == 0) {
				t.Errorf("%d ms from the end: forgotten %v, and a request finds %+v", edge, forgotten, found)
			}
		}
	})
	if (&Snapshot{Now: epoch}).Forgotten() {
		t.Error("a key of which nothing is known is forgotten")
	}
}
