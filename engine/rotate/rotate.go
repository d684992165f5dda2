// Package rotate says which value of a list an attempt uses: one mirror, then
// the next.
//
// A value that has failed comes again when all others have failed as often, as
// HAProxy's "option redispatch" and Envoy's previous_hosts have it, but with no
// way to run out of values. The package is plain bookkeeping; it will never
// draw a random number, read the clock or judge an attempt.
package rotate

import (
	"slices"
	"strings"
)

// List is a name with the values that it takes, at least one.
type List struct {
	Name   string
	Values []string
	// Random says that the first value is drawn.
	Random bool
}

// Variable is the variable that holds the value for the command: RETRY_USE_ and the
// name in capitals, "-" as "_".
func (l *List) Variable() string {
	return "RETRY_USE_" + strings.ToUpper(strings.ReplaceAll(l.Name, "-", "_"))
}

// Use are the values of one attempt or copy, one for each list, in order. nil is
// none.
type Use []Value

// Value is a value in use.
type Value struct {
	*List
	Text  string
	index int
}

// ByName are the values by the names of their lists; nil for none.
func (u Use) ByName() map[string]string {
	if len(u) == 0 {
		return nil
	}
	values := make(map[string]string, len(u))
	for _, v := range u {
		values[v.Name] = v.Text
	}
	return values
}

// Variables are the entries for the command's environment, NAME=VALUE.
func (u Use) Variables() []string {
	var entries []string
	for _, v := range u {
		entries = append(entries, v.Variable()+"="+v.Text)
	}
	return entries
}

// Rotation is where each list stands in a run.
type Rotation struct {
	wheels []wheel
	stay   Use
}

// wheel is where one list stands.
type wheel struct {
	*List
	next     int   // comes first among equals
	failures []int // of each value
	using    []int // attempts that run with it
}

// New returns a rotation at its start. draw is called once for each list that
// begins at random, for a number uniform in [0, 1).
func New(lists []List, draw func() float64) *Rotation {
	r := &Rotation{wheels: make([]wheel, len(lists))}
	for i := range lists {
		n := len(lists[i].Values)
		w := wheel{List: &lists[i], failures: make([]int, n), using: make([]int, n)}
		if w.Random {
			w.next = min(int(draw()*float64(n)), n-1)
		}
		r.wheels[i] = w
	}
	return r
}

// Take returns the values of the attempt or copy that starts now: of each list
// the value that has failed least, counting an attempt under way as a failure;
// among these one that is not sick; among these the next in order. sick says
// which values have failed for others; nil is none. Put ends the use.
func (r *Rotation) Take(sick func(name, value string) bool) Use {
	use := r.stay
	r.stay = nil
	if use == nil {
		use = make(Use, len(r.wheels))
		for i := range r.wheels {
			w := &r.wheels[i]
			use[i] = w.value(w.pick(sick))
		}
	}
	for i, v := range use {
		w := &r.wheels[i]
		w.using[v.index]++
		w.next = (v.index + 1) % len(w.Values)
	}
	return use
}

func (w *wheel) value(index int) Value { return Value{w.List, w.Values[index], index} }

// pick returns the index of the value that is next.
func (w *wheel) pick(sick func(name, value string) bool) int {
	best, rank := w.next, [2]int{}
	for step := range w.Values {
		i := (w.next + step) % len(w.Values)
		this := [2]int{w.failures[i] + w.using[i], 0}
		if sick != nil && sick(w.Name, w.Values[i]) {
			this[1] = 1
		}
		if step == 0 || slices.Compare(this[:], rank[:]) < 0 {
			best, rank = i, this
		}
	}
	return best
}

// Put ends a use; failed says that the attempt failed with it.
func (r *Rotation) Put(use Use, failed bool) {
	for i, v := range use {
		r.wheels[i].using[v.index]--
		if failed {
			r.wheels[i].failures[v.index]++
		}
	}
}

// Standing is where a list stands between two attempts: the index of the value
// that comes first among equals, and how often each has failed.
type Standing struct {
	Next     int   `json:"next"`
	Failures []int `json:"failures"`
}

// Standings returns where each list stands, by its name.
func (r *Rotation) Standings() map[string]Standing {
	all := map[string]Standing{}
	for i := range r.wheels {
		w := &r.wheels[i]
		all[w.Name] = Standing{w.next, slices.Clone(w.failures)}
	}
	return all
}

// Resume goes on where each list stood. A list with another number of values
// begins at its start.
func (r *Rotation) Resume(all map[string]Standing) {
	for i := range r.wheels {
		w := &r.wheels[i]
		if at, n := all[w.Name], len(w.Values); len(at.Failures) == n && at.Next >= 0 && at.Next < n {
			w.next = at.Next
			copy(w.failures, at.Failures)
		}
	}
}

// Stay has the next Take return the values of use, which is over: more
// successes are asked for.
func (r *Rotation) Stay(use Use) { r.stay = use }
