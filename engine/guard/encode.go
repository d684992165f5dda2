package guard

// This file writes a State as a list of integers, and reads it back. Files hold
// it as varints, Redis as decimal words. guard.lua writes and reads the same list:
// a version, and the fields in the order of State.visit. Before the elements of a
// slice stands their number.

import "errors"

// version is that of the list, greatest the greatest number in one.
const version, greatest = 3, MaxID

// ErrDamaged says that a list is not a State.
var ErrDamaged = errors.New("the record is damaged")

// Append adds the state to a list.
func (s *State) Append(list []int64) []int64 {
	c := codec{list: list}
	s.visit(&c)
	return c.list
}

// Read reads what Append wrote. The error is ErrDamaged.
func Read(list []int64) (s State, err error) {
	c := codec{list: list, reads: true}
	s.visit(&c)
	if c.bad || len(c.list) > 0 {
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

func (c *codec) numbers(all ...*int64) {
	for _, n := range all {
		switch {
		case !c.reads:
			c.list = append(c.list, *n)
		case c.bad || len(c.list) == 0 || c.list[0] < 0 || c.list[0] > greatest:
			*n, c.bad = 0, true
		default:
			*n, c.list = c.list[0], c.list[1:]
		}
	}
}

// each visits the elements of a slice, of which each has one number or more.
func each[T any](c *codec, all *[]T, visit func(*T)) {
	n := int64(len(*all))
	c.numbers(&n)
	if c.reads {
		c.bad = c.bad || n > int64(len(c.list))
		*all = make([]T, min(n, int64(len(c.list))))
	}
	for i := range *all {
		visit(&(*all)[i])
	}
}

func (c *codec) leases(all *[]Lease) {
	each(c, all, func(l *Lease) { c.numbers(&l.ID, &l.Until) })
}

func (c *codec) windows(all *[]Window) {
	each(c, all, func(w *Window) {
		c.numbers(&w.Width, &w.Used, &w.Newest)
		c.bad = c.bad || w.Width == 0
		for i := range w.Counts {
			c.numbers(&w.Counts[i][0], &w.Counts[i][1])
		}
	})
}

func (s *State) visit(c *codec) {
	b, format := &s.Breaker, int64(version)
	c.numbers(&format, &s.Used, &s.Keep, (*int64)(&b.Circuit), &b.Generation, &b.Opened, &b.Openings, &b.Failures,
		&b.Outcomes, &b.Row, &b.Successes, &s.Bucket.Missing, &s.Bucket.Stamp, &s.Turns.Free, &s.Turns.Reserved,
		&s.Forgot)
	c.bad = c.bad || format != version || b.Circuit > HalfOpen
	c.leases(&b.Probes)
	c.leases(&s.Slots)
	c.windows(&b.Windows)
	c.windows(&s.Budget)
	each(c, &s.Recent, func(n *int64) { c.numbers(n) })
}
