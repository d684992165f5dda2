package store

// This file is how guard.lua is told a request, and how it answers: words name=number, with
// blanks between them. A name that is missing is 0. A field is added here, and where it is used.

import (
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/guard"
)

// field is a number with the name that it has in guard.lua.
type field struct {
	name   string
	number int64
}

// requestWords are the words of a request.
func requestWords(g *guard.Guards, r *guard.Request) string {
	b, u, t := &g.Breaker, &g.Budget, &g.Tokens
	var text []byte
	for _, f := range []field{
		{"op", int64(r.Op)},
		{"rate", b.Rate}, {"row", b.Row}, {"min", b.Min}, {"window", b.Window}, {"open", b.Open},
		{"probes", b.Probes},
		{"budget", bit(u.On)}, {"budgetRatio", u.Ratio}, {"budgetMin", u.Min}, {"budgetWindow", u.Window},
		{"budgetShare", g.Priority.Share(u.Reserve)},
		{"capacity", t.Capacity}, {"cost", t.Cost}, {"timeoutCost", t.TimeoutCost}, {"success", t.Success},
		{"refill", t.Refill}, {"tokenShare", g.Priority.Share(t.Reserve)},
		{"slots", g.Slots.N}, {"interval", g.RateLimit.Interval}, {"burst", g.RateLimit.Burst},
		{"adaptive", bit(g.Adaptive)}, {"attempts", g.Attempts},
		{"attempt", r.Attempt}, {"timedOut", bit(r.TimedOut)}, {"id", r.ID}, {"slot", bit(r.Slot)},
		{"waiting", bit(r.Waiting)},
		{"turn", bit(r.Turn)}, {"patience", r.Patience},
		{"takenAt", r.Taken.At}, {"takenBudget", bit(r.Taken.Budget)}, {"takenCost", r.Taken.Cost},
		{"passId", r.Pass.ID}, {"passGeneration", r.Pass.Generation}, {"passPlace", bit(r.Pass.Place)},
		{"passSlot", bit(r.Pass.Slot)},
		{"outcome", int64(r.Outcome)}, {"succeeded", bit(r.Succeeded)},
	} {
		if f.number != 0 {
			text = append(append(append(text, f.name...), '='), strconv.FormatInt(f.number, 10)...)
			text = append(text, ' ')
		}
	}
	return string(text)
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// answerOf reads the words of an answer, and whether the record was damaged.
func answerOf(text string) (a guard.Answer, damaged bool, err error) {
	numbers, err := readWords(text)
	if err != nil {
		return a, false, err
	}
	n := func(name string) int64 { return numbers[name] }
	for _, name := range []string{"from", "to", "circuit"} {
		if n(name) < 0 || n(name) > int64(guard.HalfOpen) {
			return a, false, errReply
		}
	}
	if n("now") <= 0 || n("guard") < 0 || n("guard") >= int64(guard.KindStore) {
		return a, false, errReply
	}
	return guard.Answer{
		Now: n("now"), From: guard.Circuit(n("from")), To: guard.Circuit(n("to")), Delay: n("delay"),
		Lost: n("lost") == 1,
		Refusal: guard.Refusal{
			Guard: guard.Kind(n("guard")), RetryIn: n("again"), Circuit: guard.Circuit(n("circuit")),
			Failures: n("failures"), Outcomes: n("outcomes"), Openings: n("openings"), Probes: n("probes"),
			Retries: n("retries"), Runs: n("runs"), Left: n("left"), Kept: n("kept"), Cost: n("cost"), Held: n("held"),
			Successes: n("successes"), Attempts: n("limit"),
		},
		Taken: guard.Taken{At: n("takenAt"), Budget: n("takenBudget") == 1, Cost: n("takenCost")},
		Pass:  guard.Pass{ID: n("id"), Generation: n("generation"), Place: n("place") == 1, Slot: n("slot") == 1},
	}, n("damaged") == 1, nil
}

// readWords reads words name=number.
func readWords(text string) (map[string]int64, error) {
	numbers := map[string]int64{}
	for word := range strings.FieldsSeq(text) {
		name, number, _ := strings.Cut(word, "=")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, errReply
		}
		numbers[name] = n
	}
	return numbers, nil
}
