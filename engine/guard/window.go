package guard

// This file counts two kinds of things in a window of time that slides in ten
// slices. The slices begin at multiples of a tenth of the width since the epoch,
// so that all processes agree on them.

import (
	"cmp"
	"slices"
)

const (
	parts = 10
	// maxWidths is how many widths of window are counted side by side.
	maxWidths = 3
	// maxCount is where a slice's count stays: sums of ten, times a million, are
	// then exact in Lua's numbers.
	maxCount = 400_000_000
)

// What the two counts of a slice mean: in a budget's window and in a breaker's.
const (
	runs, retries       = 0, 1
	failures, successes = 0, 1
)

// Window holds the counts of the last ten slices.
type Window struct {
	// Width is the whole window, Used when it was last asked for, both in
	// milliseconds.
	Width, Used int64
	// Newest is the number of the newest slice since the epoch.
	Newest int64
	// Counts holds the newest slice first.
	Counts [parts][2]int64
}

// slice is the number of the slice that holds the time now.
func slice(width, now int64) int64 { return now * parts / width }

// advance makes the slice of now the newest. Counts of slices in the future,
// which a clock that was ahead left behind, count as now.
func (w *Window) advance(now int64) {
	current := slice(w.Width, now)
	moved := min(max(current-w.Newest, -parts), parts)
	if moved == 0 {
		return
	}
	before := w.Counts
	w.Newest, w.Counts = current, [parts][2]int64{}
	for age, counts := range before {
		if at := max(int64(age)+moved, 0); at < parts {
			for kind, n := range counts {
				w.Counts[at][kind] = min(w.Counts[at][kind]+n, maxCount)
			}
		}
	}
}

// sum adds up the newest n slices; advance comes before it.
func (w *Window) sum(kind, n int) int64 {
	total := int64(0)
	for _, c := range w.Counts[:n] {
		total += c[kind]
	}
	return total
}

func (w *Window) failed() (failed, total int64) {
	failed = w.sum(failures, parts)
	return failed, failed + w.sum(successes, parts)
}

// window returns the window of a width. If there is none, it makes one. If there are
// maxWidths already, that replaces the one that was not used for longest.
func window(all *[]Window, width, now int64) *Window {
	i := slices.IndexFunc(*all, func(w Window) bool { return w.Width == width })
	if i < 0 {
		if len(*all) == maxWidths {
			oldest := slices.MinFunc(*all, func(a, b Window) int { return cmp.Compare(a.Used, b.Used) }).Width
			*all = slices.DeleteFunc(*all, func(w Window) bool { return w.Width == oldest })
		}
		i = len(*all)
		*all = append(*all, Window{Width: width, Newest: slice(width, now)})
	}
	w := &(*all)[i]
	w.Used = now
	w.advance(now)
	return w
}

// count adds one to the newest slice of every width: what happened on a key
// counts for all who look at it.
func count(all []Window, kind int, now int64) {
	for i := range all {
		w := &all[i]
		w.advance(now)
		w.Counts[0][kind] = min(w.Counts[0][kind]+1, maxCount)
	}
}

// takeBack undoes a count that was made at a time, if it is still in the
// window.
func takeBack(all []Window, kind int, at, now int64) {
	for i := range all {
		w := &all[i]
		w.advance(now)
		if age := max(w.Newest-slice(w.Width, at), 0); age < parts {
			w.Counts[age][kind] = max(w.Counts[age][kind]-1, 0)
		}
	}
}
