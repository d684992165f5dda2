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
	e := entry{at, a.entered, who, what}
	a.heap = append(a.heap, e)
	i := len(a.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&a.heap[parent]) {
			break
		}
		a.heap[i] = a.heap[parent]
		i = parent
	}
	a.heap[i] = e
}

// next takes the earliest event; there is one.
func (a *agenda) next() entry {
	first := a.heap[0]
	end := len(a.heap) - 1
	last := a.heap[end]
	a.heap = a.heap[:end]
	i := 0
	for child := 1; child < end; child = 2*i + 1 {
		if right := child + 1; right < end && a.heap[right].before(&a.heap[child]) {
			child = right
		}
		if !a.heap[child].before(&last) {
			break
		}
		a.heap[i] = a.heap[child]
		i = child
	}
	if end > 0 {
		a.heap[i] = last
	}
	return first
}

func (a *agenda) empty() bool { return len(a.heap) == 0 }
