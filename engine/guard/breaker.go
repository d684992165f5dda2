package guard

// This file is the circuit breaker. Closed, it counts outcomes; open, it
// admits nothing for a time; half-open, it admits a few probes, and their outcomes
// decide. A probe holds its place by a lease, so that a process that dies blocks
// others for the time of a lease at most.

// Circuit is the state of a breaker.
type Circuit int64

// The states of a breaker.
const (
	Closed Circuit = iota
	Open
	HalfOpen
)

func (c Circuit) String() string { return [...]string{"closed", "open", "half_open"}[c] }

// longestOpen is the greatest multiple of Open that a breaker that opens again
// and again stays open for (Envoy's outlier detection: base 30 s, at most 300 s).
const longestOpen = 10

// maxProbes is how many probes may be admitted at a time: their leases have
// to fit into a record of fixed size.
const maxProbes = 64

// Breaker are the parameters of a circuit breaker. Exactly one of Rate and Row
// is set if there is a breaker.
type Breaker struct {
	// Rate opens it, in failures per million outcomes, Row by failures in a row.
	Rate, Row int64
	// Min is the least number of outcomes for the rate, in a window of Window
	// milliseconds.
	Min, Window int64
	Open        int64 // how long it admits nothing, in milliseconds
	// Probes is how many attempts are admitted at a time when it is half-open,
	// and how many successes close it.
	Probes int64
}

// Named reports whether there is a breaker.
func (b *Breaker) Named() bool { return b.Rate > 0 || b.Row > 0 }

// BreakerState is what is known of a breaker.
type BreakerState struct {
	Circuit            Circuit
	Generation         int64 // changes with the state and is never used again
	Opened, Openings   int64 // when it opened, in milliseconds, and how often in a row
	Failures, Outcomes int64 // that opened it
	Row                int64 // failures since the last success
	Successes          int64 // of probes
	Probes             []Lease
	Windows            []Window // of failures and successes
}

// checkBreaker refuses an attempt, and a copy as long as the breaker is not closed.
func (t *transaction) checkBreaker() *Refusal {
	s, b := &t.s.Breaker, &t.g.Breaker
	isCopy := t.r.Op == AdmitCopy
	if !b.Named() || s.Circuit == Closed {
		return nil
	}
	if s.Circuit == Open {
		left := s.Opened + b.openFor(s.Openings) - t.now
		if left <= 0 && !isCopy {
			return nil
		}
		return &Refusal{
			Guard: KindBreaker, Circuit: Open, RetryIn: max(left, 0),
			Failures: s.Failures, Outcomes: s.Outcomes, Openings: s.Openings,
		}
	}
	refusal := &Refusal{Guard: KindBreaker, Circuit: HalfOpen}
	for _, probe := range s.Probes {
		left := probe.Until - t.now
		if left <= 0 || probe.ID == t.r.ID { // run out, or of a request that is repeated
			continue
		}
		if refusal.Probes++; refusal.Probes == 1 || left < refusal.RetryIn {
			refusal.RetryIn = left
		}
	}
	if refusal.Probes < b.Probes && !isCopy {
		return nil
	}
	return refusal
}

// openFor is how long a breaker stays open that opened n times in a row.
func (b *Breaker) openFor(n int64) int64 { return min(n, longestOpen) * b.Open }

// enterBreaker admits an attempt that is not refused. A breaker that was open for
// long enough becomes half-open.
func (t *transaction) enterBreaker() {
	s, pass := &t.s.Breaker, &t.a.Pass
	named := t.g.Breaker.Named()
	if named && s.Circuit == Open {
		s.change(HalfOpen, t.now)
	}
	if named && s.Circuit == HalfOpen {
		s.Probes = expire(s.Probes, t.now)
		s.Probes = append(release(s.Probes, pass.ID), Lease{pass.ID, t.now + LeaseFor})
		pass.Place = true
	}
	pass.Generation = s.Generation
}

// reportBreaker counts an outcome. That of an earlier generation, or of a probe whose
// lease has run out, is dropped.
func (t *transaction) reportBreaker() {
	s, r := &t.s.Breaker, t.r
	switch {
	case !t.g.Breaker.Named() || r.Pass.Generation != s.Generation:
	case s.Circuit == HalfOpen:
		s.Probes = expire(s.Probes, t.now)
		held := len(s.Probes)
		if s.Probes = release(s.Probes, r.Pass.ID); len(s.Probes) < held {
			s.probed(&t.g.Breaker, r.Outcome, t.now)
		}
	case s.Circuit == Closed && r.Outcome != Neither:
		s.outcome(&t.g.Breaker, r.Outcome, t.now)
	}
}

func (s *BreakerState) probed(b *Breaker, outcome Outcome, now int64) {
	switch outcome {
	case Success:
		if s.Successes = min(s.Successes+1, greatest); s.Successes >= b.Probes {
			s.Openings, s.Failures, s.Outcomes = 0, 0, 0
			s.change(Closed, now)
		}
	case Failure:
		s.open(s.Failures, s.Outcomes, now)
	}
}

// outcome counts while the breaker is closed, and opens it. After a success, too:
// it may be the outcome that reaches the least number (as in resilience4j).
func (s *BreakerState) outcome(b *Breaker, outcome Outcome, now int64) {
	kind := failures
	s.Row = min(s.Row+1, greatest)
	if outcome == Success {
		kind, s.Row = successes, 0
	}
	if b.Row > 0 {
		count(s.Windows, kind, now)
		if s.Row >= b.Row {
			s.open(s.Row, s.Row, now)
		}
		return
	}
	w := window(&s.Windows, b.Window, now)
	count(s.Windows, kind, now)
	failed, total := w.failed()
	if total >= b.Min && failed*million >= b.Rate*total {
		s.open(failed, total, now)
	}
}

// open opens the breaker once more.
func (s *BreakerState) open(failed, total, now int64) {
	s.Opened, s.Openings = now, min(s.Openings+1, greatest)
	s.Failures, s.Outcomes = failed, total
	s.Row, s.Windows = 0, nil
	s.change(Open, now)
}

// change begins a new generation. Its number is the time, or one more than the last
// number if that is greater, so that it is not used again after a state was forgotten.
func (s *BreakerState) change(to Circuit, now int64) {
	s.Circuit, s.Generation = to, min(max(s.Generation+1, now), greatest)
	s.Successes, s.Probes = 0, nil
}

// renew keeps a place for another lease, unless it is lost.
func (s *BreakerState) renew(id, now int64) {
	s.Probes = expire(s.Probes, now)
	for i := range s.Probes {
		if s.Probes[i].ID == id {
			s.Probes[i].Until = now + LeaseFor
		}
	}
}
