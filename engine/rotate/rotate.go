// Package rotate chooses the value of a list that an attempt uses: one mirror, then the next.
//
// A value that has failed is used again when all others have failed as often, as with HAProxy's
// "option redispatch" and Envoy's previous_hosts, but the values never run out. The package
// keeps counts; it does not draw random numbers, read the clock or judge an attempt.
package rotate

import (
	"slices"
	"strings"
)

// List is a name with its values, at least one.
type List struct {
	Name   string
	Values []string
}

// Variable is the variable of the command's environment that has the value: RETRY_USE_
// and the name in capitals, "-" as "_".
func (l *List) Variable() string {
	return "RETRY_USE_" + strings.ToUpper(strings.ReplaceAll(l.Name, "-", "_"))
}

// Use are the values of one attempt or copy, one for each list, in order; nil for none.
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

// Rotation is the state of the lists in a run; the zero value has no list.
type Rotation struct {
	wheels []*wheel
	stay   Use
}

// wheel is the state of one list.
type wheel struct {
	*List
	Standing
	using []int // attempts that run with each value
}

// Standing is the state of a list between two attempts: the index of the value that comes
// first among equals, and how often each has failed.
type Standing struct {
	Next     int   `json:"next"`
	Failures []int `json:"failures"`
}

// New returns a rotation at its start.
func New(lists []List) (r Rotation) {
	for i := range lists {
		n := len(lists[i].Values)
		r.wheels = append(r.wheels, &wheel{
			List: &lists[i], Standing: Standing{Failures: make([]int, n)}, using: make([]int, n),
		})
	}
	return r
}

// Next returns what Take will return.
func (r *Rotation) Next() Use {
	if r.stay != nil || len(r.wheels) == 0 {
		return r.stay
	}
	use := make(Use, len(r.wheels))
	for i, w := range r.wheels {
		index := w.pick()
		use[i] = Value{w.List, w.Values[index], index}
	}
	return use
}

// Take returns the values of the attempt or copy that starts now: of each list the value
// that has failed least; among these the next in order. An attempt under way counts as a
// failure. Put ends the use.
func (r *Rotation) Take() Use {
	use := r.Next()
	r.stay = nil
	for i, v := range use {
		w := r.wheels[i]
		w.using[v.index]++
		w.Next = (v.index + 1) % len(w.Values)
	}
	return use
}

// pick returns the index of the value that is next.
func (w *wheel) pick() int {
	best := w.Next
	for step := range w.Values {
		if i := (w.Next + step) % len(w.Values); w.rank(i) < w.rank(best) {
			best = i
		}
	}
	return best
}

// rank is lowest for the value to use.
func (w *wheel) rank(i int) int { return w.Failures[i] + w.using[i] }

// Put ends a use; failed says that the attempt failed with it.
func (r *Rotation) Put(use Use, failed bool) {
	for i, v := range use {
		r.wheels[i].using[v.index]--
		if failed {
			r.wheels[i].Failures[v.index]++
		}
	}
}

// Stay has the next Take return the values of use, which is over: more successes are needed.
func (r *Rotation) Stay(use Use) { r.stay = use }

// Standings returns the state of each list, by its name; nil for none.
func (r *Rotation) Standings() map[string]Standing {
	if len(r.wheels) == 0 {
		return nil
	}
	all := map[string]Standing{}
	for _, w := range r.wheels {
		all[w.Name] = Standing{w.Next, slices.Clone(w.Failures)}
	}
	return all
}

// Resume restores the state of each list. A list with another number of values begins at
// its start.
func (r *Rotation) Resume(all map[string]Standing) {
	for _, w := range r.wheels {
		if at, n := all[w.Name], len(w.Values); len(at.Failures) == n && at.Next >= 0 && at.Next < n {
			w.Standing = Standing{at.Next, slices.Clone(at.Failures)}
		}
	}
}
