package guard

// This file is the retry budget: retries may be a share of the runs in a window,
// and a few more.

// million is what rates are parts of.
const million = 1_000_000

// Budget are the parameters of a retry budget.
type Budget struct {
	On      bool
	Ratio   int64 // retries that a million runs pay for
	Min     int64 // retries that the window always allows
	Window  int64 // its width in milliseconds
	Reserve int64 // for runs of high priority only, in parts per million
}

// takeBudget counts a retry, or refuses it if the window has no place left.
func (t *transaction) takeBudget() *Refusal {
	if !t.g.Budget.On {
		return nil
	}
	w := window(&t.s.Budget, t.g.Budget.Window, t.now)
	// pays reports whether the newest slices pay for one more retry: retries <
	// share x max(min, ratio x runs).
	pays := func(newest int) bool {
		return w.sum(retries, newest)*million < t.g.Budget.limit(w.sum(runs, newest), t.g.Priority)
	}
	if pays(parts) {
		count(t.s.Budget, retries, t.now)
		t.a.Taken.At = t.now
		t.a.Taken.Budget = true
		return nil
	}
	refusal := &Refusal{Guard: KindBudget, RetryIn: -1, Retries: w.sum(retries, parts), Runs: w.sum(runs, parts)}
	for left := parts - 1; left >= 0; left-- {
		if pays(left) {
			refusal.RetryIn = ceilDiv((w.Newest+int64(parts-left))*w.Width, parts) - t.now
			break
		}
	}
	return refusal
}

// countRun counts a run, at its first attempt.
func (t *transaction) countRun() {
	if b := &t.g.Budget; b.On && t.r.Attempt == 1 {
		window(&t.s.Budget, b.Window, t.now)
		count(t.s.Budget, runs, t.now)
	}
}

// limit is share x max(min, ratio x runs) in millionths, rounded up. The product
// is taken in two halves, so that Lua's numbers hold it.
func (b *Budget) limit(run int64, p Priority) int64 {
	all := max(b.Min*million, b.Ratio*run)
	share := p.Share(b.Reserve)
	return all/(2*million)*share + ceilDiv(all%(2*million)*share, 2*million)
}

// Share is how much of a budget or bucket a run of this priority sees, in
// two-millionths.
func (p Priority) Share(reserve int64) int64 {
	switch p {
	case High:
		return 2 * million
	case Low:
		return million - reserve
	}
	return 2 * (million - reserve)
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
