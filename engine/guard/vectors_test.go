package guard

// This file runs the published cases of other programs' guards, and those of our
// contract, over the guards here: testdata/guards.json, each with its source.

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// vectors are the cases. A step is [time in s, operation, ...expected].
type vectors struct {
	Breaker, Budget []struct {
		Name, Flag string
		Steps      [][]any
	}
	Tokens []struct {
		Name, Flag string
		Start      int64
		Steps      [][]any
		TimedSteps [][]any `json:"timed_steps"`
	}
	Adaptive []struct {
		Attempts, Limit int64
		Rate            float64
	}
	Priority []struct {
		Flag string
		Runs int
		Let  map[string]int `json:"retries_let_through"`
	}
	BreakerOpenFor struct {
		Flag    string
		Nth     []int64 `json:"nth_in_a_row"`
		Seconds []int64
	} `json:"breaker_open_for"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/guards.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// parse reads a flag as a person writes it: --breaker 50%,min=5.
func parse(t *testing.T, flag string) *Guards {
	t.Helper()
	name, text, _ := strings.Cut(flag, " ")
	var g Guards
	var err error
	switch name {
	case "--breaker":
		err = g.Breaker.UnmarshalText([]byte(text))
	case "--budget":
		err = g.Budget.UnmarshalText([]byte(text))
	case "--tokens":
		err = g.Tokens.UnmarshalText([]byte(text))
	default:
		t.Fatalf("flag %q", flag)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &g
}

// epoch is a multiple of every window of the cases.
const epoch = 1_800_000_000_000

func at(seconds any) int64 { return epoch + int64(math.Round(seconds.(float64)*1000)) }

// breakerCase keeps the attempts that are out.
type breakerCase struct {
	g       *Guards
	s       State
	id      int64
	named   map[string]Pass
	unnamed []Pass
}

func (c *breakerCase) try(now int64) (string, Pass) {
	c.id++
	a := Do(c.g, &c.s, &Request{Op: Admit, Attempt: 1, ID: c.id}, now)
	if a.Refusal.Guard != None {
		return "refuse:" + a.Refusal.Circuit.String(), Pass{}
	}
	return "admit:" + a.To.String(), a.Pass
}

// step does one operation and returns what came of it.
func (c *breakerCase) step(now int64, op string) string {
	words := strings.Fields(op)
	if words[0] == "try" {
		answer, pass := c.try(now)
		switch {
		case strings.HasPrefix(answer, "refuse"):
		case len(words) > 1:
			c.named[words[1]] = pass
		default:
			c.unnamed = append(c.unnamed, pass)
		}
		return answer
	}
	var pass Pass
	switch {
	case len(words) == 2:
		pass = c.named[words[0]]
	case len(c.unnamed) > 0:
		pass, c.unnamed = c.unnamed[0], c.unnamed[1:]
	default:
		_, pass = c.try(now)
	}
	outcome := map[string]Outcome{"F": Failure, "S": Success, "X": Neither}[words[len(words)-1]]
	return Do(c.g, &c.s, &Request{Op: Report, Pass: pass, Outcome: outcome}, now).To.String()
}

func TestBreakerVectors(t *testing.T) {
	for _, v := range readVectors(t).Breaker {
		t.Run(v.Name, func(t *testing.T) {
			c := &breakerCase{g: parse(t, v.Flag), named: map[string]Pass{}}
			for i, step := range v.Steps {
				if got := c.step(at(step[0]), step[1].(string)); got != step[2] {
					t.Fatalf("step %d, %v: %s", i, step, got)
				}
			}
		})
	}
}

func TestBudgetVectors(t *testing.T) {
	for _, v := range readVectors(t).Budget {
		t.Run(v.Name, func(t *testing.T) {
			g, s := parse(t, v.Flag), State{}
			for i, step := range v.Steps {
				request, last := Request{Op: Permit, Attempt: 2}, true
				if step[1] == "run" {
					request = Request{Op: Admit, Attempt: 1}
				}
				for range int(step[2].(float64)) {
					last = Do(g, &s, &request, at(step[0])).Refusal.Guard == None
				}
				if len(step) > 3 && last != step[3] {
					t.Fatalf("step %d, %v: %v", i, step, last)
				}
			}
		})
	}
}

// tokens does one operation on a bucket and reports whether it was granted.
func tokens(g *Guards, s *State, taken *Taken, operation string, detail any, now int64) bool {
	acquire := func(timedOut bool) bool {
		a := Do(g, s, &Request{Op: Permit, Attempt: 2, TimedOut: timedOut}, now)
		if a.Refusal.Guard == None {
			*taken = a.Taken
		}
		return a.Refusal.Guard == None
	}
	switch operation {
	case "acquire":
		return acquire(detail == "timeout")
	case "acquire5_then_release":
		granted := acquire(false)
		Do(g, s, &Request{Op: Withdraw, Taken: *taken}, now)
		return granted
	case "success_after_retry":
		Do(g, s, &Request{Op: Finish, Attempt: 2, Taken: *taken, Succeeded: true}, now)
	case "success_first":
		Do(g, s, &Request{Op: Finish, Attempt: 1, Succeeded: true}, now)
	case "failure":
		Do(g, s, &Request{Op: Finish, Attempt: 2, Taken: *taken}, now)
	case "add", "refund":
		Do(g, s, &Request{Op: Withdraw, Taken: Taken{Cost: int64(detail.(float64))}}, now)
	default:
		panic(operation)
	}
	return true
}

func TestTokensVectors(t *testing.T) {
	for _, v := range readVectors(t).Tokens {
		t.Run(v.Name, func(t *testing.T) {
			g := parse(t, v.Flag)
			s := State{Bucket: Bucket{Missing: (g.Tokens.Capacity - v.Start) * million, Stamp: epoch}}
			left := func() float64 { return float64(g.Tokens.Capacity) - float64(s.Bucket.Missing)/million }
			var taken Taken
			for i, step := range v.Steps {
				if step[3] == "500-5*i" {
					for k := range 100 {
						if !tokens(g, &s, &taken, "acquire", "error", epoch) || left() != float64(495-5*k) {
							t.Fatalf("acquire %d: %v left", k, left())
						}
					}
					continue
				}
				granted := tokens(g, &s, &taken, step[0].(string), step[1], epoch)
				if left() != step[3] || step[2] != nil && granted != step[2] {
					t.Fatalf("step %d, %v: %v, %v left", i, step, granted, left())
				}
			}
			for i, step := range v.TimedSteps {
				now := at(step[0])
				if len(step) == 3 { // what is given back
					tokens(g, &s, &taken, step[1].(string), step[2], now)
					continue
				}
				granted := tokens(g, &s, &taken, step[1].(string), nil, now)
				if granted != step[2] || left() != step[3] {
					t.Fatalf("step %d, %v: %v, %v left", i, step, granted, left())
				}
			}
		})
	}
}

func TestAdaptiveVectors(t *testing.T) {
	for _, v := range readVectors(t).Adaptive {
		succeeded := int64(math.Round(v.Rate * 100))
		if got := adaptiveLimit(v.Attempts, succeeded, 100); got != v.Limit {
			t.Errorf("%d attempts at a rate of %v: %d, not %d", v.Attempts, v.Rate, got, v.Limit)
		}
	}
}

func TestPriorityVectors(t *testing.T) {
	for _, v := range readVectors(t).Priority {
		for word, want := range v.Let {
			g, s := parse(t, v.Flag), State{}
			if err := g.Priority.UnmarshalText([]byte(word)); err != nil {
				t.Fatal(err)
			}
			for range v.Runs {
				Do(g, &s, &Request{Op: Admit, Attempt: 1}, epoch)
			}
			got := 0
			for Do(g, &s, &Request{Op: Permit, Attempt: 2}, epoch).Refusal.Guard == None {
				got++
			}
			if got != want {
				t.Errorf("%s, %s: %d retries, not %d", v.Flag, word, got, want)
			}
		}
	}
}

func TestBreakerOpensForLongerEachTime(t *testing.T) {
	v := readVectors(t).BreakerOpenFor
	g, s, now := parse(t, v.Flag), State{}, int64(epoch)
	attempt := func() Answer { return Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: now}, now) }
	for range 5 {
		Do(g, &s, &Request{Op: Report, Pass: attempt().Pass, Outcome: Failure}, now)
	}
	for i, nth := range v.Nth {
		refusal := attempt().Refusal
		if want := v.Seconds[i] * 1000; refusal.RetryIn != want || refusal.Openings != nth {
			t.Fatalf("opening %d: open for %d ms, opened %d times, not %d ms", nth, refusal.RetryIn, refusal.Openings,
				want)
		}
		now += refusal.RetryIn
		Do(g, &s, &Request{Op: Report, Pass: attempt().Pass, Outcome: Failure}, now)
	}
}

func ExampleDo() {
	g := Guards{Breaker: Breaker{Row: 2, Open: 30_000, Probes: 1}}
	var s State
	for now := int64(1000); now <= 3000; now += 1000 {
		a := Do(&g, &s, &Request{Op: Admit, Attempt: 1, ID: now}, now)
		if a.Refusal.Guard != None {
			fmt.Println(a.Refusal.Reason(&g, "npm"))
			return
		}
		Do(&g, &s, &Request{Op: Report, Pass: a.Pass, Outcome: Failure}, now)
	}
	// Output: the breaker of "npm" is open: 2 of 2 attempts failed; the next may pass in 29s
}
