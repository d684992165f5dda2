package hedge

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"testing/quick"
	"time"
)

// answer is what a copy of a vector ends with, and when.
type answer struct {
	at   time.Duration
	copy int
	how  string // ok, nonfatal or fatal
}

func (a *answer) UnmarshalJSON(data []byte) error {
	var at int
	if err := json.Unmarshal(data, &[]any{&at, &a.copy, &a.how}); err != nil {
		return err
	}
	a.at = time.Duration(at) * time.Millisecond
	return nil
}

// play runs a group in arithmetic time: at each moment the answers come first,
// since a copy that has ended is not waited for. It returns when copies were
// started.
func play(p Policy, answers []answer, deadline time.Duration) []time.Duration {
	g := New(p)
	var started []time.Duration
	for {
		due, more := g.Due()
		if len(answers) > 0 && (!more || answers[0].at <= due) && answers[0].at < deadline {
			a := answers[0]
			answers = answers[1:]
			if a.copy >= len(started) {
				continue // it was never started
			}
			if a.how != "nonfatal" {
				return started
			}
			g.Fail(a.at)
			continue
		}
		if !more || due >= deadline {
			return started
		}
		g.Start(due)
		started = append(started, due)
	}
}

// TestVectors checks the rule against the cases of gRPC's proposal A6; see the
// file for the lines.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/hedging.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			Name                 string
			Max, Delay, Deadline int
			Answers              []answer
			SentAt               []int `json:"sent_at"`
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Cases) != 5 {
		t.Fatalf("%d cases, want 5", len(vectors.Cases))
	}
	for _, c := range vectors.Cases {
		t.Run(c.Name, func(t *testing.T) {
			deadline := time.Duration(math.MaxInt64)
			if c.Deadline > 0 {
				deadline = time.Duration(c.Deadline) * time.Millisecond
			}
			var got []int
			for _, at := range play(Policy{Delay: time.Duration(c.Delay) * time.Millisecond, Max: c.Max}, c.Answers, deadline) {
				got = append(got, int(at.Milliseconds()))
			}
			if !slices.Equal(got, c.SentAt) {
				t.Errorf("copies started at %v, want %v", got, c.SentAt)
			}
		})
	}
}

// TestNoMoreCopiesThanAllowed plays random histories: there are never more
// copies than Max, each follows a delay after the one before or a failure, and
// they are numbered one by one.
func TestNoMoreCopiesThanAllowed(t *testing.T) {
	property := func(delay uint16, most uint8, steps []uint8) bool {
		p := Policy{Delay: time.Duration(delay), Max: int(most%8) + 1}
		g := New(p)
		var now, last time.Duration
		copies, passed, failed := 0, 0, false
		for _, step := range steps {
			now += time.Duration(step)
			at, more := g.Due()
			if more != (copies+passed < p.Max) {
				return false
			}
			switch {
			case !more || at > now:
				if step%5 == 0 {
					g.Fail(now)
					failed = true
				}
				continue
			case copies+passed > 0 && !failed && at != last+p.Delay:
				return false
			case step%7 == 0:
				g.Pass(now)
				passed++
			default:
				if g.Start(now) != copies {
					return false
				}
				copies++
			}
			last, failed = now, false
		}
		return copies+passed <= p.Max
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

// A delay that reaches past what can be counted is never due.
func TestLongestDelay(t *testing.T) {
	g := New(Policy{Delay: math.MaxInt64, Max: 2})
	g.Start(time.Hour)
	if at, more := g.Due(); at != math.MaxInt64 || !more {
		t.Errorf("due at %v, %v", at, more)
	}
}

// A first copy that is slow gets a second one after a second, a third one as
// soon as one of the two has failed.
func ExampleGroup() {
	g := New(Policy{Delay: time.Second, Max: 3})
	fmt.Println("copy", g.Start(0))
	fmt.Println(g.Due())
	fmt.Println("copy", g.Start(time.Second))
	g.Fail(1200 * time.Millisecond)
	fmt.Println(g.Due())
	fmt.Println("copy", g.Start(1200*time.Millisecond))
	_, more := g.Due()
	fmt.Println(more)
	// Output:
	// copy 0
	// 1s true
	// copy 1
	// 1.2s true
	// copy 2
	// false
}
