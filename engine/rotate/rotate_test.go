package rotate

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/quick"
)

func parse(t *testing.T, texts ...string) []List {
	t.Helper()
	var lists []List
	for _, text := range texts {
		l, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, l)
	}
	return lists
}

func half() float64 { return 0.5 }

// turn takes the values of one attempt that fails.
func turn(r *Rotation) string {
	use := r.Take()
	r.Put(use, true)
	return use[0].Text
}

func turns(r *Rotation, n int) string {
	var got []string
	for range n {
		got = append(got, turn(r))
	}
	return strings.Join(got, " ")
}

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		list      string
		elsewhere []bool // has failed
		want      string
	}{
		{"M=a,b,c", nil, "a b c a b c a"},
		{"M=a", nil, "a a a a a a a"},
		{"M@=a,b,c", nil, "b c a b c a b"}, // 0.5 of 3 is the second
		{"M@=a,b,c,d", nil, "c d a b c d a"},
		{"M=a,b,c", []bool{true, false, false}, "b c a b c a b"},
		{"M=a,b,c", []bool{true, true, false}, "c a b c a b c"},
		{"M=a,b,c", []bool{true, true, true}, "a b c a b c a"},
		{"M@=a,b,c", []bool{false, true, false}, "c a b c a b c"},
	} {
		r := New(parse(t, test.list), half)
		r.SetFailedElsewhere(test.elsewhere)
		if got := turns(&r, 7); got != test.want {
			t.Errorf("%s: %s, want %s", test.list, got, test.want)
		}
	}
}

// A random start is uniform: each value comes first where the number falls into
// its part of [0, 1).
func TestRandomStart(t *testing.T) {
	lists := parse(t, "M@=a,b,c,d,e")
	counts := map[string]int{}
	for i := range 1000 {
		r := New(lists, func() float64 { return float64(i) / 1000 })
		counts[turn(&r)]++
	}
	if want := map[string]int{"a": 200, "b": 200, "c": 200, "d": 200, "e": 200}; !maps.Equal(counts, want) {
		t.Errorf("first values: %v", counts)
	}
	r := New(lists, func() float64 { return 0.9999999999999999 })
	if got := turn(&r); got != "e" {
		t.Errorf("the greatest number gives %s", got)
	}
}

// Copies that run beside one another have values apart, as far as there are
// any; what one of them failed with comes again last.
func TestCopiesTakeTheNext(t *testing.T) {
	r := New(parse(t, "M=a,b,c"), half)
	first, second := r.Take(), r.Take()
	if first[0].Text != "a" || second[0].Text != "b" {
		t.Errorf("copies use %s and %s", first[0].Text, second[0].Text)
	}
	r.Put(second, true)
	third := r.Take()
	fourth := r.Take() // all are in use or have failed: the next in order
	if third[0].Text != "c" || fourth[0].Text != "a" {
		t.Errorf("then %s and %s", third[0].Text, fourth[0].Text)
	}
	r.Put(fourth, false)
	r.Put(third, true)
	r.Put(first, false) // lost, which is not a failure
	if got := turns(&r, 3); got != "a b c" {
		t.Errorf("the next attempts use %s", got)
	}
}

// A value with which an attempt succeeded stays while more successes are asked
// for, also where it has failed for other runs.
func TestStay(t *testing.T) {
	r := New(parse(t, "M=a,b,c"), half)
	lost, won := r.Take(), r.Take()
	r.Put(won, false)
	r.Put(lost, false)
	r.Stay(won)
	r.SetFailedElsewhere([]bool{false, true, false})
	if next := r.Next(); next[0].Text != "b" {
		t.Errorf("the next is %s", next[0].Text)
	}
	use := r.Take()
	if use[0].Text != "b" {
		t.Errorf("after a success with b: %s", use[0].Text)
	}
	r.SetFailedElsewhere(nil)
	if second := r.Take(); second[0].Text != "c" {
		t.Errorf("its copy uses %s", second[0].Text)
	}
}

// TestFailedComesLast plays random histories of single attempts: a value that
// has failed more often than another is never taken.
func TestFailedComesLast(t *testing.T) {
	property := func(n uint8, results []bool) bool {
		values := make([]string, n%6+1)
		for i := range values {
			values[i] = fmt.Sprint(i)
		}
		r := New([]List{{Name: "M", Values: values}}, half)
		failures := map[string]int{}
		for _, failed := range results {
			use := r.Take()
			for _, v := range values {
				if failures[v] < failures[use[0].Text] {
					return false
				}
			}
			r.Put(use, failed)
			if failed {
				failures[use[0].Text]++
			} else {
				r.Stay(use)
			}
		}
		return true
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

func TestSeveralLists(t *testing.T) {
	r := New(parse(t, "host=a,b", "PORT=1,2,3"), half)
	var got []string
	for range 4 {
		use := r.Take()
		r.Put(use, true)
		got = append(got, use.Words([]string{"{host}:{PORT}"})[0])
	}
	if want := "a:1 b:2 a:3 b:1"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}
