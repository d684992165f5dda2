package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
)

func TestExitsMatch(t *testing.T) {
	code := func(n int) attempt.Result { return attempt.Result{ExitCode: n} }
	killed := attempt.Result{ExitCode: 137, Signal: "SIGKILL"}
	timeout := attempt.Result{ExitCode: 124, TimedOut: true}
	timeoutKilled := attempt.Result{ExitCode: 124, TimedOut: true, Signal: "SIGTERM"}
	for _, c := range []struct {
		list   string
		result attempt.Result
		want   string
	}{
		{"75", code(75), "75"},
		{"75", code(76), ""},
		{"75, 111", code(111), "111"},
		{"100-110", code(100), "100-110"},
		{"100-110", code(110), "100-110"},
		{"100-110", code(111), ""},
		{"0", code(0), "0"},
		{"255", code(255), "255"},
		{"any", code(0), ""},
		{"any", code(1), "any"},
		{"any", killed, "any"},
		{"any", timeout, "any"},
		{"KILL", killed, "KILL"},
		{"SIGKILL", killed, "SIGKILL"},
		{"sigkill", killed, "sigkill"},
		{"TERM", killed, ""},
		{"KILL", code(137), ""},
		{"137", killed, "137"},
		{"signal", killed, "signal"},
		{"signal", code(137), ""},
		{"timeout", timeout, "timeout"},
		{"124", timeout, "124"},
		{"120-130", timeout, "120-130"},
		{"timeout", code(124), ""},
		{"124", code(124), "124"},
		{"signal,TERM", timeoutKilled, ""},
		{"1,2,any", code(2), "2"},
	} {
		x, err := ParseExits(c.list)
		if err != nil {
			t.Errorf("ParseExits(%q): %v", c.list, err)
			continue
		}
		if got, ok := x.Match(c.result); got != c.want || ok != (c.want != "") {
			t.Errorf("%q on %+v = %q, %v; want %q", c.list, c.result, got, ok, c.want)
		}
	}
}

// What is read for one tool are the rules of the whole file that are for it or for any.
func TestExitsOfATool(t *testing.T) {
	all := readExits("")
	tools := map[string]bool{"unheard-of": true}
	for _, r := range all {
		for _, tool := range r.Tools {
			tools[tool] = true
		}
	}
	show := func(rules []*Rule) (shown []string) {
		for _, r := range rules {
			shown = append(shown, r.Where()+" "+r.ID+" "+r.Reason)
		}
		return shown
	}
	for tool := range tools {
		var want []*Rule
		for _, r := range all {
			if r.isAbout([]string{tool}) {
				want = append(want, r)
			}
		}
		if got := readExits(tool); !slices.Equal(show(got), show(want)) {
			t.Errorf("%s: %q, want %q", tool, show(got), show(want))
		}
	}
	if len(readExits("unheard-of")) == 0 || len(all) < 50 || len(tools) < 100 {
		t.Errorf("%d rules for any tool, %d in all, for %d tools", len(readExits("unheard-of")), len(all), len(tools))
	}
}

func TestExitsCodes(t *testing.T) {
	x, err := ParseExits("any,KILL,120-127,3")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[int]string{127: "120-127", 3: "3", 1: "", 137: ""} {
		if item, _ := x.Codes().Match(attempt.Result{ExitCode: code, Signal: ""}); item != want {
			t.Errorf("%d is named by %q, want %q", code, item, want)
		}
	}
	if item, _ := x.Match(attempt.Result{ExitCode: 127}); item != "any" {
		t.Errorf("the list has lost its words: %q", item)
	}
}

func TestParseExitsErrors(t *testing.T) {
	for in, want := range map[string]string{
		"": "no exit", " ": "no exit", "1,,2": "is empty", "75,": "is empty", "256": `"256"`, "-1": `"-1"`,
		"1-":    `"1-"`,
		"1-2-3": `"1-2-3"`, "110-100": "100-110", "9999999999999999999999": "0 to 255", "KILLED": `"KILLED"`,
		"1.5": `"1.5"`, "1;2": `"1;2"`, "0x10": `"0x10"`,
	} {
		_, err := ParseExits(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseExits(%q): %v, want an error with %q", in, err, want)
		}
	}
}

func FuzzParseExits(f *testing.F) {
	for _, s := range []string{"75,111", "100-110", "KILL,SIGSEGV", "timeout,signal,any", "1-,-1", "RTMIN+3"} {
		f.Add(s, 75)
	}
	f.Fuzz(func(t *testing.T, s string, code int) {
		x, err := ParseExits(s)
		if (err == nil) == (len(x) == 0) {
			t.Fatalf("ParseExits(%q) = %v, %v", s, x, err)
		}
		if item, ok := x.Match(attempt.Result{ExitCode: code}); ok && !strings.Contains(s, item) {
			t.Fatalf("ParseExits(%q) matched %q", s, item)
		}
	})
}
