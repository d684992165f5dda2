package guard

// This file writes a State as a list of integers, and reads it back. Files hold
// it as varints, Redis as decimal words. guard.lua writes and reads the same list:
// a version, and the fields in the order of State.visit. Before the elements of a
// slice stands their number.

import "errors"

// version is that of the list.
const version = 2

// greatest is the greatest number in a list.
const greatest = MaxID

// ErrDamaged says that a list is not a State.
var ErrDamaged = errors.New("the record is damaged")

// Append adds the state to a list.
func (s *State) Append(list []int64) []int64 {
	c := codec{list: list}
	s.visit(&c)
	return c.list
}

// Read reads what Append wrote. The error is ErrDamaged.
func Read(list []int64) (State, error) {
	c := codec{list: list, reads: true}
	var s State
	if s.visit(&c); c.bad || len(c.list) > 0 {
		return State{}, ErrDamaged
	}
	return s, nil
}

// codec appends numbers to a list, or takes them off its head. A number that cannot
// be there makes it bad, and every number after it 0.
type codec struct {
	list       []int64
	reads, bad bool
}

func (c *codec) number(n *int64, most int64) {
	switch {
	case !c.reads:
		c.list = append(c.list, *n)
	case c.bad || len(c.list) == 0 || c.list[0] < 0 || c.list[0] > most:
		*n, c.bad = 0, true
	default:
		*n, c.list = c.list[0], c.list[1:]
	}
}

func (c *codec) numbers(most int64, all ...*int64) {
	for _, n := range all {
		c.number(n, most)
	}
}

// each visits the elements of a slice.
func each[T any](c *codec, all *[]T, most int64, visit func(*T)) {
	n := int64(len(*all))
	if c.number(&n, most); c.reads {
		*all = make([]T, n)
	}
	for i := range *all {
		visit(&(*all)[i])
	}
}

func (c *codec) leases(all *[]Lease, most int64) {
	each(c, all, most, func(l *Lease) { c.numbers(greatest, &l.ID, &l.Until) })
}

func (c *codec) windows(all *[]Window) {
	each(c, all, maxWidths, func(w *Window) {
		c.number(&w.Width, maxDuration)
		c.bad = c.bad || w.Width == 0
		c.numbers(greatest, &w.Used, &w.Newest)
		for i := range w.Counts {
			c.numbers(maxCount, &w.Counts[i][0], &w.Counts[i][1])
		}
	})
}

func (s *State) visit(c *codec) {
	b, format := &s.Breaker, int64(version)
	c.number(&format, version)
	c.bad = c.bad || format != version
	c.numbers(greatest, &s.Used, &s.Keep)
	c.number((*int64)(&b.Circuit), int64(HalfOpen))
	c.numbers(greatest, &b.Generation, &b.Opened, &b.Openings, &b.Failures, &b.Outcomes, &b.Row, &b.Successes)
	c.leases(&b.Probes, maxProbes)
	c.windows(&b.Windows)
	c.windows(&s.Budget)
	c.number(&s.Bucket.Missing, maxNumber*million)
	c.number(&s.Bucket.Stamp, greatest)
	each(c, &s.Recent, lookBack, func(n *int64) { c.number(n, 1) })
	c.leases(&s.Slots, maxSlots)
	c.number(&s.Forgot, greatest)
	c.leases(&s.Failed, maxFailed)
}
