package guard

// This file writes a State as a list of integers, and reads it back. Files hold
// it as varints, Redis as decimal words. The list is:
//
//	version, used, keep,
//	circuit, generation, opened, openings, failures, outcomes, row, successes,
//	number of probes, and for each: id, until
//	number of a breaker's windows, and for each: width, used, newest, 10 x (failures, successes)
//	number of a budget's windows, and for each: width, used, newest, 10 x (runs, retries)
//	missing, stamp
//	number of recent outcomes, and for each: 1 for a success
//	number of slots, and for each: id, until
//	forgot
//	number of failed values, and for each: value, until

import "errors"

// version is that of the list.
const version = 2

// ErrDamaged says that a list is not a State.
var ErrDamaged = errors.New("the record is damaged")

// Append adds the state to a list.
func (s *State) Append(list []int64) []int64 {
	b := &s.Breaker
	list = append(list, version, s.Used, s.Keep,
		int64(b.Circuit), b.Generation, b.Opened, b.Openings, b.Failures, b.Outcomes, b.Row, b.Successes)
	list = appendLeases(list, b.Probes)
	list = appendWindows(list, b.Windows)
	list = appendWindows(list, s.Budget)
	list = append(list, s.Bucket.Missing, s.Bucket.Stamp, int64(len(s.Recent)))
	for _, ok := range s.Recent {
		if ok {
			list = append(list, 1)
		} else {
			list = append(list, 0)
		}
	}
	list = append(appendLeases(list, s.Slots), s.Forgot)
	return appendLeases(list, s.Failed)
}

func appendLeases(list []int64, leases []Lease) []int64 {
	list = append(list, int64(len(leases)))
	for _, l := range leases {
		list = append(list, l.ID, l.Until)
	}
	return list
}

func appendWindows(list []int64, all []Window) []int64 {
	list = append(list, int64(len(all)))
	for i := range all {
		w := &all[i]
		list = append(list, w.Width, w.Used, w.Newest)
		for _, c := range w.Counts {
			list = append(list, c[0], c[1])
		}
	}
	return list
}

// greatest is the greatest number in a list.
const greatest = MaxID

// reader takes numbers off the head of a list. A number that cannot be there
// makes it bad, and every number after it 0.
type reader struct {
	list []int64
	bad  bool
}

func (r *reader) next(most int64) int64 {
	if r.bad || len(r.list) == 0 || r.list[0] < 0 || r.list[0] > most {
		r.bad = true
		return 0
	}
	n := r.list[0]
	r.list = r.list[1:]
	return n
}

// Read reads what Append wrote. The error is ErrDamaged.
func Read(list []int64) (State, error) {
	r := &reader{list: list}
	var s State
	if r.next(greatest) != version {
		return s, ErrDamaged
	}
	s.Used, s.Keep = r.next(greatest), r.next(greatest)
	b := &s.Breaker
	b.Circuit, b.Generation = Circuit(r.next(int64(HalfOpen))), r.next(greatest)
	b.Opened, b.Openings = r.next(greatest), r.next(greatest)
	b.Failures, b.Outcomes = r.next(greatest), r.next(greatest)
	b.Row, b.Successes = r.next(greatest), r.next(greatest)
	b.Probes = r.leases(maxProbes)
	b.Windows, s.Budget = r.windows(), r.windows()
	s.Bucket = Bucket{Missing: r.next(maxNumber * million), Stamp: r.next(greatest)}
	for range r.next(lookBack) {
		s.Recent = append(s.Recent, r.next(1) == 1)
	}
	s.Slots, s.Forgot = r.leases(maxSlots), r.next(greatest)
	s.Failed = r.leases(maxFailed)
	if r.bad || len(r.list) > 0 {
		return State{}, ErrDamaged
	}
	return s, nil
}

func (r *reader) leases(most int64) []Lease {
	var leases []Lease
	for range r.next(most) {
		leases = append(leases, Lease{r.next(MaxID), r.next(greatest)})
	}
	return leases
}

func (r *reader) windows() []Window {
	var all []Window
	for range r.next(maxWidths) {
		w := Window{Width: r.next(maxDuration), Used: r.next(greatest), Newest: r.next(greatest)}
		r.bad = r.bad || w.Width == 0
		for i := range w.Counts {
			w.Counts[i] = [2]int64{r.next(maxCount), r.next(maxCount)}
		}
		all = append(all, w)
	}
	return all
}
