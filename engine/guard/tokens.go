package guard

// This file is the token bucket of AWS's standard mode: a retry takes tokens, a
// success gives some back.

// Tokens are the parameters of a token bucket. Capacity 0 is none.
type Tokens struct {
	Capacity, Cost, TimeoutCost, Success int64
	Refill                               int64 // in thousandths of a token a second
	Reserve                              int64 // for runs of high priority only, in parts per million
}

// Bucket is what is known of a token bucket. It holds what is missing, so that
// runs whose capacities differ can share it.
type Bucket struct {
	// Missing is in millionths of a token: a refill of thousandths a second then
	// adds a whole number in each millisecond.
	Missing int64
	// Stamp is up to when it was refilled, in milliseconds.
	Stamp int64
}

// refill adds what the time since Stamp brings.
func (b *Bucket) refill(t *Tokens, now int64) {
	if t.Refill > 0 && b.Missing > 0 {
		if gone := now - b.Stamp; gone >= ceilDiv(b.Missing, t.Refill) {
			b.Missing = 0
		} else {
			b.Missing -= t.Refill * gone
		}
	}
	if t.Refill > 0 || b.Missing == 0 {
		b.Stamp = now
	}
}

// takeTokens takes what a retry costs, or refuses. What is reserved stays as the lower part of
// the bucket: capacity x (1 - share).
func (t *transaction) takeTokens() *Refusal {
	b, c := &t.s.Bucket, &t.g.Tokens
	if c.Capacity == 0 {
		return nil
	}
	cost := c.Cost
	if t.r.TimedOut {
		cost = c.TimeoutCost
	}
	b.refill(c, t.now)
	left := c.Capacity*million - b.Missing
	kept := c.Capacity * (2*million - t.g.Priority.Share(c.Reserve)) // in half millionths
	short := 2*cost*million + kept - 2*left
	if short <= 0 {
		b.Missing += cost * million
		t.a.Taken.At = t.now
		t.a.Taken.Cost = cost
		return nil
	}
	refusal := &Refusal{Guard: KindTokens, RetryIn: -1, Left: max(left, 0), Kept: kept / 2, Cost: cost}
	if c.Refill > 0 && 2*cost*million+kept <= 2*c.Capacity*million {
		refusal.RetryIn = ceilDiv(short, 2*c.Refill)
	}
	return refusal
}

// give puts tokens back, never above the capacity.
func (b *Bucket) give(t *Tokens, n, now int64) {
	b.refill(t, now)
	b.Missing = max(b.Missing-n*million, 0)
}
