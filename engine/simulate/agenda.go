package simulate

// This file is the queue of events: a binary heap in order of time. container/heap
// takes twice as long for a race.

import "time"

// entry is one event. Events of the same time happen in the order in which they were
// entered, so that a seed gives the same result each time.
type entry struct {
	at    time.Duration
	order uint64
	who   int32
	what  action
}

// action says what happens; each model has its own.
type action uint8

func (e *entry) before(other *entry) bool {
	return e.at < other.at || e.at == other.at && e.order < other.order
}

// agenda is the heap: no entry comes before its parent, (i-1)/2.
type agenda struct {
	heap    []entry
	entered uint64
}

// enter adds what happens to who at a time.
func (a *agenda) enter(at time.Duration, who int32, what action) {
	a.entered++
	a.heap = append(a.heap, entry{at, a.entered, who, what})
	for i := len(a.heap) - 1; i > 0 && a.heap[i].before(&a.heap[(i-1)/2]); i = (i - 1) / 2 {
		a.swap(i, (i-1)/2)
	}
}

// next takes the earliest event; there is one.
func (a *agenda) next() entry {
	first, end := a.heap[0], len(a.heap)-1
	a.swap(0, end)
	a.heap = a.heap[:end]
	for i, child := 0, 1; child < end; i, child = child, 2*child+1 {
		if right := child + 1; right < end && a.heap[right].before(&a.heap[child]) {
			child = right
		}
		if !a.heap[child].before(&a.heap[i]) {
			break
		}
		a.swap(i, child)
	}
	return first
}

func (a *agenda) swap(i, j int) { a.heap[i], a.heap[j] = a.heap[j], a.heap[i] }
