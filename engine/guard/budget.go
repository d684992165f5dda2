package guard

// This file is the retry budget: retries may be a share of the runs in a window,
// and a few more.

// million is what rates are parts of.
const million = 1_000_000

// Budget are the parameters of a retry budget.
type Budget struct {
	On bool
	// Ratio is how many retries a million runs pay for.
	Ratio int64
	// Min is how many retries the window always allows.
	Min int64
	// Window is its width in milliseconds.
	Window int64
	// Reserve is what only runs of high priority may use, in parts per million.
	Reserve int64
}

// refuses reports whether the window, whose newest slice is that of now, has no
// place for another retry.
func (b *Budget) refuses(w *Window, p Priority, now int64) (Refusal, bool) {
	run, retried := w.sum(runs, parts), w.sum(retries, parts)
	if b.pays(run, retried, p) {
		return Refusal{}, false
	}
	refusal := Refusal{Guard: KindBudget, RetryIn: -1, Figures: [3]int64{retried, run}}
	for left := parts - 1; left >= 0; left-- {
		if b.pays(w.sum(runs, left), w.sum(retries, left), p) {
			begins := ceilDiv((w.Newest+int64(parts-left))*w.Width, parts)
			refusal.RetryIn = begins - now
			break
		}
	}
	return refusal, true
}

// pays reports whether so many runs pay for one more retry: retries <
// share x max(min, ratio x runs).
func (b *Budget) pays(run, retried int64, p Priority) bool {
	return retried*million < b.limit(run, p)
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
