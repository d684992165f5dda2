package rotate

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A use is shown by the names of its lists, and as variables in their order.
func TestUse(t *testing.T) {
	r := New(parse(t, "HOST=a,b", "cache-dir=x"))
	use := r.Take()
	if got, want := use.ByName(), map[string]string{"HOST": "a", "cache-dir": "x"}; !maps.Equal(got, want) {
		t.Errorf("by name: %v, want %v", got, want)
	}
	if got, want := use.Variables(), []string{"RETRY_USE_HOST=a", "RETRY_USE_CACHE_DIR=x"}; !slices.Equal(got, want) {
		t.Errorf("variables: %v, want %v", got, want)
	}
	if got := Use(nil).ByName(); got != nil {
		t.Errorf("without lists: %v, want nil", got)
	}
}

// A run that goes on later takes up the lists where the one before left them.
func TestResume(t *testing.T) {
	lists := parse(t, "M=a,b,c", "N=x,y")
	r := New(lists)
	turns(&r, 4) // a b c a
	standings := r.Standings()
	want := map[string]Standing{"M": {1, []int{2, 1, 1}}, "N": {0, []int{2, 2}}}
	if !reflect.DeepEqual(standings, want) {
		t.Errorf("standings %v, want %v", standings, want)
	}
	turn(&r)
	if !reflect.DeepEqual(standings, want) {
		t.Errorf("an attempt has changed them to %v", standings)
	}
	resumed := New(lists)
	resumed.Resume(standings)
	if got := turns(&resumed, 3); got != "b c a" {
		t.Errorf("it goes on with %s, want b c a", got)
	}
	if !reflect.DeepEqual(standings, want) {
		t.Errorf("a resumed run has changed them to %v", standings)
	}
	if none := New(nil); none.Standings() != nil {
		t.Errorf("without lists: %v, want nil", none.Standings())
	}
}

// What does not fit a list, since it has changed, leaves it at its start.
func TestResumeIgnoresWhatDoesNotFit(t *testing.T) {
	for _, at := range []Standing{{1, []int{0, 0}}, {1, []int{0, 0, 0, 0}}, {-1, []int{9, 0, 0}}, {3, []int{9, 0, 0}},
		{1, nil}} {
		r := New(parse(t, "M=a,b,c"))
		r.Resume(map[string]Standing{"M": at, "other": {1, []int{1, 1, 1}}})
		if got := turns(&r, 4); got != "a b c a" {
			t.Errorf("%v: %s, want a b c a", at, got)
		}
	}
	for next, want := range map[int]string{0: "b c a", 2: "c b c"} {
		r := New(parse(t, "M=a,b,c"))
		r.Resume(map[string]Standing{"M": {next, []int{1, 0, 0}}})
		if got := turns(&r, 3); got != want {
			t.Errorf("from %d: %s, want %s", next, got, want)
		}
	}
}

func TestUnmarshalText(t *testing.T) {
	var l List
	if err := l.UnmarshalText([]byte("M=a, b")); err != nil || !reflect.DeepEqual(l, List{"M", []string{"a", "b"}}) {
		t.Errorf("%v, %v", l, err)
	}
	if err := l.UnmarshalText([]byte("M")); err == nil {
		t.Error("no error")
	}
}

// If only the shell's ${NAME} stands in the command, the error says so.
func TestCheckUsedNamesTheShell(t *testing.T) {
	l := parse(t, "HOST=a,b")[0]
	for want, words := range map[string][]string{
		"is a variable of the shell": {"sh", "-c", "curl ${HOST}", "sh"},
		"does not stand":             {"curl", "HOST", "{OTHER}"},
	} {
		if err := l.CheckUsed(words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", words, err, want)
		}
	}
	if err := l.CheckUsed([]string{"sh", "-c", "curl ${HOST} {HOST}"}); err != nil {
		t.Error(err)
	}
}
