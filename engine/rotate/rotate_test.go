package rotate

import (
	"fmt"
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
	for list, want := range map[string]string{
		"M=a,b,c": "a b c a b c a",
		"M=a":     "a a a a a a a",
	} {
		r := New(parse(t, list))
		if got := turns(&r, 7); got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
}

// Copies that run beside one another have values apart, as far as there are
// any; what one of them failed with comes again last.
func TestCopiesTakeTheNext(t *testing.T) {
	r := New(parse(t, "M=a,b,c"))
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
// for.
func TestStay(t *testing.T) {
	r := New(parse(t, "M=a,b,c"))
	lost, won := r.Take(), r.Take()
	r.Put(won, false)
	r.Put(lost, false)
	r.Stay(won)
	if next := r.Next(); next[0].Text != "b" {
		t.Errorf("the next is %s", next[0].Text)
	}
	use := r.Take()
	if use[0].Text != "b" {
		t.Errorf("after a success with b: %s", use[0].Text)
	}
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
		r := New([]List{{Name: "M", Values: values}})
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
	r := New(parse(t, "host=a,b", "PORT=1,2,3"))
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
