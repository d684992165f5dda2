package guard

// This file holds for how long a state is kept, what a clock that was ahead leaves in it, and
// that a record which is no state is refused.

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestAStateIsKeptForAsLongAsItMatters holds the time after which a key is new, to the
// millisecond: a day, or what its guards need if that is more.
func TestAStateIsKeptForAsLongAsItMatters(t *testing.T) {
	const hour = day / 24
	for name, c := range map[string]struct {
		g       Guards
		missing int64 // tokens
		free    int64 // ms from now to the next free turn
		want    int64
	}{
		"nothing that needs more than a day": {Guards{Breaker: Breaker{Rate: 1, Window: hour, Open: hour},
			Budget: Budget{On: true, Window: 12 * hour}}, 0, 0, day},
		"two windows of the breaker": {Guards{Breaker: Breaker{Rate: 1, Window: 30 * hour, Open: 1}}, 0, 0,
			60 * hour},
		"ten times the time open":   {Guards{Breaker: Breaker{Row: 1, Open: 7 * hour}}, 0, 0, 70 * hour},
		"two windows of the budget": {Guards{Budget: Budget{On: true, Window: 13 * hour}}, 0, 0, 26 * hour},
		"the refill of the bucket": {Guards{Tokens: Tokens{Capacity: 1000, Cost: 1, Refill: 10}}, 1000, 0,
			100_000_000},
		"a refill that is rounded up": {Guards{Tokens: Tokens{Capacity: 1000, Cost: 1, Refill: 3}}, 300, 0,
			100_000_000},
		"a part of a millisecond of refill": {Guards{Tokens: Tokens{Capacity: 1000, Cost: 1, Refill: 7}}, 1000, 0,
			142_857_143},
		"a bucket that nothing refills": {Guards{Tokens: Tokens{Capacity: 1000, Cost: 1}}, 1000, 0, day},
		"turns that are reserved": {Guards{RateLimit: RateLimit{Interval: 1, Burst: 1}}, 0, 3 * day,
			3 * day},
		"a turn that is free before a day": {Guards{RateLimit: RateLimit{Interval: 1, Burst: 1}}, 0, hour, day},
		"the longest of several": {Guards{Budget: Budget{On: true, Window: 30 * hour},
			Tokens: Tokens{Capacity: 1, Cost: 1, Refill: 1}}, 1, 2 * day, 60 * hour},
		"of a state from before these guards": {Guards{}, 0, 4 * day, 4 * day},
	} {
		s := State{Bucket: Bucket{Missing: c.missing * million, Stamp: epoch}, Forgot: 7}
		if c.free > 0 {
			s.Turns = Turns{Free: (epoch + c.free) * 1000, Reserved: epoch}
		}
		Do(&c.g, &s, &Request{Op: Renew}, epoch)
		for late, want := range map[int64]int64{0: 7, 1: 0} {
			then := copyOf(t, &s)
			if Do(&Guards{}, &then, &Request{Op: Renew}, epoch+c.want+late); then.Forgot != want {
				t.Errorf("%s, %d ms after the time: %+v", name, late, then)
			}
		}
	}
}

// TestABucketIsNotForgottenBeforeItIsFull: whoever empties a bucket does not find it full
// before its refill, however long that takes.
func TestABucketIsNotForgottenBeforeItIsFull(t *testing.T) {
	g := &Guards{Tokens: Tokens{Capacity: 1000, Cost: 1000, Refill: 1}} // full again in 11.6 days
	var s State
	take := func(s *State, now int64) bool {
		return Do(g, s, &Request{Op: Permit, Attempt: 2}, now).Refusal.Guard == None
	}
	if !take(&s, epoch) {
		t.Fatal("a full bucket refuses")
	}
	const full = 1000 * million
	for now, want := range map[int64]bool{epoch + 1: false, epoch + 2*day: false, epoch + full - 1: false,
		epoch + full: true} {
		then := copyOf(t, &s)
		if got := take(&then, now); got != want {
			t.Errorf("%d ms later: taken %v", now-epoch, got)
		}
	}
}

// TestAClockThatWasAheadIsForgiven: times from a clock that was ahead count as now, so that
// nothing is held for longer than it would be from now on.
func TestAClockThatWasAheadIsForgiven(t *testing.T) {
	const ahead = 365 * day
	g := &Guards{
		Breaker: Breaker{Row: 1, Open: 5000, Probes: 1}, Slots: Slots{N: 1},
		Tokens: Tokens{Capacity: 10, Cost: 10, TimeoutCost: 10, Refill: 1000}, Adaptive: true,
	}
	s := State{
		Breaker: BreakerState{Circuit: Open, Opened: epoch + ahead, Openings: 1, Generation: 1},
		Bucket:  Bucket{Missing: 10 * million, Stamp: epoch + ahead}, Forgot: epoch + ahead,
		Slots: []Lease{{1, epoch + ahead}, {2, epoch + 1}},
	}
	now := int64(epoch)
	if a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 9, Held: -1}, now); a.Refusal.RetryIn != 5000 {
		t.Errorf("the breaker: %+v", a.Refusal)
	}
	if want := []Lease{{1, epoch + LeaseFor}, {2, epoch + 1}}; !slices.Equal(s.Slots, want) {
		t.Errorf("slots %v", s.Slots)
	}
	if s.Forgot != epoch {
		t.Errorf("outcomes of attempts before %d are dropped", s.Forgot-epoch)
	}
	s.Breaker = BreakerState{}
	if a := Do(g, &s, &Request{Op: Permit, Attempt: 2}, now); a.Refusal.Guard != KindTokens ||
		a.Refusal.RetryIn != 10_000 {
		t.Errorf("the bucket: %+v", a.Refusal)
	}
	s.Breaker = BreakerState{Circuit: HalfOpen, Probes: []Lease{{1, epoch + ahead}}}
	if a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 9, Held: -1}, now); a.Refusal.RetryIn != LeaseFor {
		t.Errorf("a probe: %+v", a.Refusal)
	}
}

// TestSlicesOfAClockThatWasAheadCountAsNow holds a window whose newest slices are in the future.
func TestSlicesOfAClockThatWasAheadCountAsNow(t *testing.T) {
	g := &Guards{Budget: Budget{On: true, Min: 1, Window: 10_000}} // slices of 1 s
	for ahead, want := range map[int64]int64{1000: 1000, 5000: 1000, 3_600_000: 1000} {
		var s State
		Do(g, &s, &Request{Op: Permit, Attempt: 2}, epoch-3000)
		Do(g, &s, &Request{Op: Permit, Attempt: 2}, epoch+ahead)
		if n := s.Budget[0].sum(retries, parts); n != 1 && ahead < 7000 {
			t.Fatalf("%d retries are counted", n)
		}
		// What was counted by the clock that was ahead leaves the window ten slices after now.
		count(s.Budget, runs, epoch+ahead)
		Do(g, &s, &Request{Op: Permit, Attempt: 2}, epoch)
		if n := s.Budget[0].Counts[0][runs]; n != 1 || s.Budget[0].Newest != epoch/want {
			t.Errorf("%d ms ahead: %+v", ahead, s.Budget[0])
		}
	}
}

// everything is a state in which each list has an element.
func everything() State {
	w := Window{Width: 1000, Used: 5, Newest: 6, Counts: [parts][2]int64{{1, 2}, {3, 4}}}
	return State{
		Used: 1, Keep: 2, Breaker: BreakerState{
			Circuit: HalfOpen, Generation: 3, Opened: 4, Openings: 5, Failures: 6, Outcomes: 7, Row: 8, Successes: 9,
			Probes: []Lease{{10, 11}}, Windows: []Window{w},
		},
		Budget: []Window{w, w}, Bucket: Bucket{12, 13}, Turns: Turns{14, 15}, Recent: []int64{1, 0},
		Slots: []Lease{{16, 17}, {18, 19}}, Forgot: 20,
	}
}

// TestDamagedRecordsAreRefused: a record that no State is written as is refused whole.
func TestDamagedRecordsAreRefused(t *testing.T) {
	s := everything()
	list := s.Append(nil)
	read := func(list []int64) error {
		got, err := Read(list)
		if err != nil && (!errors.Is(err, ErrDamaged) || len(got.Append(nil)) != len(new(State).Append(nil))) {
			t.Errorf("%v, and %+v", err, got)
		}
		return err
	}
	if got, err := Read(list); err != nil || !reflect.DeepEqual(got, s) {
		t.Fatalf("%+v is read as %+v, %v", s, got, err)
	}
	for n := range list {
		if read(list[:n]) == nil {
			t.Errorf("%d of %d numbers are read", n, len(list))
		}
		for _, bad := range []int64{-1, greatest + 1} {
			if damaged := slices.Clone(list); read(slices.Replace(damaged, n, n+1, bad)) == nil {
				t.Errorf("number %d is read as %d", n, bad)
			}
		}
		// Greater than any count, and in the bounds of a number.
		if damaged := slices.Clone(list); read(slices.Replace(damaged, n, n+1, greatest)) == nil &&
			!equalLength(t, damaged, list) {
			t.Errorf("number %d is read as %d, and changes the length", n, int64(greatest))
		}
	}
	if read(append(slices.Clone(list), 0)) == nil {
		t.Error("a record with a number too many is read")
	}
	for name, change := range map[string]func(*State){
		"a state of a breaker that is unknown": func(s *State) { s.Breaker.Circuit = HalfOpen + 1 },
		"a window without a width":             func(s *State) { s.Budget[1].Width = 0 },
	} {
		bad := everything()
		change(&bad)
		if read(bad.Append(nil)) == nil {
			t.Errorf("%s is read", name)
		}
	}
	for _, other := range []int64{version - 1, version + 1} {
		if damaged := slices.Clone(list); read(slices.Replace(damaged, 0, 1, other)) == nil {
			t.Errorf("version %d is read", other)
		}
	}
}

// equalLength reports whether a list that is read is written with as many numbers as another.
func equalLength(t *testing.T, list, other []int64) bool {
	t.Helper()
	s, err := Read(list)
	return err == nil && len(s.Append(nil)) == len(other)
}

// TestCountsStayWhatARecordCanHold: whatever was counted, the next outcome makes no number
// that is not read again.
func TestCountsStayWhatARecordCanHold(t *testing.T) {
	histories(t, 300, func(t *testing.T, r *rand.Rand) {
		g := randomGuards(r)
		s := everything()
		s.Breaker.Circuit = Circuit(r.Int64N(3))
		for _, n := range []*int64{&s.Breaker.Generation, &s.Breaker.Openings, &s.Breaker.Row, &s.Breaker.Successes,
			&s.Turns.Free} {
			*n = greatest
		}
		g.Breaker.Row, g.Breaker.Probes = greatest, greatest
		for i := range s.Budget {
			s.Budget[i].Counts[0] = [2]int64{maxCount, maxCount}
			s.Budget[i].Width, s.Breaker.Windows[0].Width = 1000, 1000
		}
		s.Keep = greatest
		play(r, g, &s, epoch, 20)
		if _, err := Read(s.Append(nil)); err != nil {
			t.Errorf("%v: %+v", err, s)
		}
	})
}
