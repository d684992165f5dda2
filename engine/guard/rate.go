package guard

// This file is the rate limit: turns of attempts that are an interval apart. It is the generic
// cell rate algorithm (ITU-T I.371), as virtual scheduling, by reservation: an attempt that comes
// too early gets the time at which it conforms.

// RateLimit are the parameters of a rate limit. Interval 0 is none.
type RateLimit struct {
	Interval int64  // between two turns, in microseconds
	Burst    int64  // attempts that may begin at once after a pause
	Rate     string // the rate in words, as it was given; "" for none
	// Wait is how long a run waits for its turn, in milliseconds; negative for no limit.
	Wait int64
}

// Turns is what is known of the turns of a key.
type Turns struct {
	Free     int64 // when the next turn is free, in microseconds since the epoch
	Reserved int64 // when the last one was reserved, in milliseconds
}

// clamp has turns that were reserved by a clock that was ahead count from now.
func (s *Turns) clamp(now int64) {
	if s.Reserved > now {
		s.Free = max(s.Free-s.Reserved*1000, 0) + now*1000
		s.Reserved = now
	}
}

// ahead is the time until the next turn is free, in milliseconds.
func (s *Turns) ahead(now int64) int64 { return max(ceilDiv(s.Free, 1000)-now, 0) }

// next is the time of the next turn for these parameters, and of the one after it for a burst
// of 1, in microseconds since the epoch.
func (s *Turns) next(r *RateLimit, now int64) (turn, after int64) {
	free := max(s.Free, now*1000)
	return max(free-(r.Burst-1)*r.Interval, now*1000), min(free+r.Interval, greatest)
}

// takeTurn reserves the next turn, or refuses if that is more than patience away, in
// milliseconds; negative for any time.
func (t *transaction) takeTurn(patience int64) *Refusal {
	r := &t.g.RateLimit
	if r.Interval == 0 {
		return nil
	}
	turn, after := t.s.Turns.next(r, t.now)
	delay := turn - t.now*1000
	if patience >= 0 && delay > patience*1000 {
		return &Refusal{Guard: KindRateLimit, RetryIn: ceilDiv(delay, 1000)}
	}
	t.s.Turns = Turns{Free: after, Reserved: t.now}
	t.a.Delay = delay
	return nil
}
