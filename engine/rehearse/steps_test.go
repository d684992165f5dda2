package rehearse

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// number is that of a system with two signals.
func number(s attempt.Signal) (int, bool) {
	switch s {
	case "SIGKILL":
		return 9, true
	case "SIGTERM":
		return 15, true
	}
	return 0, false
}

func exit(code int) Step {
	return Step{Chance: 1, Times: 1, Result: attempt.Result{ExitCode: code}}
}

func TestParse(t *testing.T) {
	times := func(n int, s Step) Step { s.Times = n; return s }
	chance := func(p float64, s Step) Step { s.Chance = p; return s }
	takes := func(d time.Duration, s Step) Step { s.Takes = d; return s }
	run := Step{Times: 1}
	kill := Step{Chance: 1, Times: 1, Result: attempt.Result{Signal: "SIGKILL", ExitCode: 137}}
	timeout := Step{Chance: 1, Times: 1, Result: attempt.Result{TimedOut: true, ExitCode: 124}}
	for list, want := range map[string]Steps{
		"75,75,0":            {exit(75), exit(75), exit(0)},
		" 75 , 0 ":           {exit(75), exit(0)},
		"3*75,run":           {times(3, exit(75)), run},
		"30%**75":            {chance(0.3, times(0, exit(75)))},
		"30%75":              {chance(0.3, exit(75))},
		"0.5%2*1":            {chance(0.005, times(2, exit(1)))},
		"75:2s":              {takes(2*time.Second, exit(75))},
		"100%3*KILL:0.5":     {takes(500*time.Millisecond, times(3, kill))},
		"SIGKILL,timeout":    {kill, timeout},
		"timeout:1m,255,126": {takes(time.Minute, timeout), exit(255), exit(126)},
		"0%**run":            {chance(0, times(0, run))},
	} {
		got, err := Parse(list, number)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", list, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for list, want := range map[string]string{
		"":             "has an empty step",
		"75,":          "has an empty step",
		",":            "has an empty step",
		"256":          `step "256": "256" is not a result`,
		"-1":           "is not a result",
		"banana":       `"banana" is not a result`,
		"HUP":          "this system has no signal",
		"0*75":         `"0" is not a number of attempts`,
		"-1*75":        "is not a number of attempts",
		"9999999999*1": "is not a number of attempts",
		"*75":          `"" is not a number of attempts`,
		"***75":        `"*75" is not a result`,
		"101%75":       `"101%" is not a percentage`,
		"-1%75":        "is not a percentage",
		"NaN%75":       "is not a percentage",
		"%75":          `"%" is not a percentage`,
		"30%30%75":     "is not a result",
		"2*30%75":      `"2*30%" is not a percentage`,
		"75:":          "duration",
		"75:-2s":       "is negative",
		"run:2s":       "run takes as long as the command does",
		"**75,0":       `step "0" is never reached`,
		"\x00":         "is not a result",
		"\xff":         "is not a result",
	} {
		if got, err := Parse(list, number); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want an error with %q", list, got, err, want)
		}
	}
}

func TestAt(t *testing.T) {
	if _, err := Parse("75,2*30%1", number); err == nil {
		t.Fatal("a percentage behind the number was read")
	}
	steps, err := Parse("75,30%2*1,run,0%**9", number)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		attempt   int
		u         float64
		code      int // -1: run
		uncertain bool
	}{
		{1, 0.99, 75, false},
		{2, 0.29, 1, true}, {2, 0.3, -1, true},
		{3, 0, 1, true}, {3, 0.9, -1, true},
		{4, 0, -1, false},
		{5, 0, -1, false}, // 0 % never pretends
		{1 << 30, 0, -1, false},
	} {
		certain := true
		step, pretends := steps.At(test.attempt, func() float64 { certain = false; return test.u })
		code := -1
		if pretends {
			code = step.Result.ExitCode
		}
		if code != test.code || certain == test.uncertain {
			t.Errorf("attempt %d, u %v: %d, certain %v", test.attempt, test.u, code, certain)
		}
	}
	if _, pretends := steps[:1].At(2, nil); pretends {
		t.Error("after the list the command is run")
	}
}

// What was read gives every attempt an answer, and never a step beyond its
// turn.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"75,75,0", "3*75,run", "30%**75", "75:2s", "timeout:1m,KILL", "1e1%2*0", "**",
		"%*:", "2147483647*1,2147483647*2,3"} {
		f.Add(seed, 3, 0.5)
	}
	f.Fuzz(func(t *testing.T, list string, n int, u float64) {
		steps, err := Parse(list, number)
		if err != nil {
			if len(steps) > 0 {
				t.Fatalf("%q: steps beside the error %v", list, err)
			}
			return
		}
		if len(steps) != strings.Count(list, ",")+1 {
			t.Fatalf("%q: %d steps", list, len(steps))
		}
		if n < 1 || !(u >= 0 && u < 1) {
			return
		}
		step, pretends := steps.At(n, func() float64 { return u })
		switch r := step.Result; {
		case !pretends:
		case step.Chance <= u || step.Takes < 0 || r.ExitCode < 0 || r.ExitCode > 255 ||
			(r.Signal != "") != (r.ExitCode > 128 && r.Signal != ""):
			t.Fatalf("%q: attempt %d pretends %+v", list, n, step)
		}
	})
}
