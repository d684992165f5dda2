package guard

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestValuesAreRead(t *testing.T) {
	for text, want := range map[string]any{
		"12.5%, min=4,window=1m,open=1.5,probes=3": &Breaker{Rate: 125_000, Min: 4, Window: 60_000, Open: 1500, Probes: 3},
		"5":                                      &Breaker{Row: 5, Open: 30_000, Probes: 1},
		"0%":                                     &Budget{On: true, Min: 3, Window: 60_000},
		"500,refill=0.5/s,reserve=20%,success=0": &Tokens{Capacity: 500, Cost: 5, TimeoutCost: 10, Refill: 500, Reserve: 200_000},
		"4,wait=1m,of=retries":                   &Slots{N: 4, Wait: 60_000, Of: OfRetries},
		"4,of=runs":                              &Slots{N: 4, Of: OfRuns},
		"low":                                    pointer(Low),
		"high":                                   pointer(High),
		"normal":                                 pointer(Normal),
	} {
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
		if err := got.(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func pointer[T any](v T) *T { return &v }

// TestSharesAreExact holds that each share with four decimals is read as it is
// written, in parts per million.
func TestSharesAreExact(t *testing.T) {
	step := int64(1)
	if testing.Short() {
		step = 997 // a prime: each digit occurs at each place
	}
	for n := int64(0); n <= million; n += step {
		var b Budget
		text := fmt.Sprintf("%d.%04d%%", n/10_000, n%10_000)
		if err := b.UnmarshalText([]byte(text)); err != nil || b.Ratio != n {
			t.Fatalf("%s: %d, %v", text, b.Ratio, err)
		}
	}
}

// TestValuesAreRefused holds that an error quotes what was typed and says what
// would be right.
func TestValuesAreRefused(t *testing.T) {
	breaker, budget, tokens, slots := new(Breaker), new(Budget), new(Tokens), new(Slots)
	for _, c := range []struct {
		into encoding.TextUnmarshaler
		text string
		says string
	}{
		{breaker, "", `"" is not`},
		{breaker, "0%", `"0%" is not a rate of failures`},
		{breaker, "101%", `"101%" is not a rate`},
		{breaker, "1e1%", `"1e1%" is not a rate`},
		{breaker, "NaN%", `"NaN%" is not a rate`},
		{breaker, "0", `"0" is not`},
		{breaker, "0.5", `such as 50%`},
		{breaker, "-5", `"-5" is not`},
		{breaker, "50%,min=0", `"0" is not a count for min=`},
		{breaker, "50%,min=5,min=6", `min= is given twice`},
		{breaker, "50%,window=1ms", `window="1ms" is not from 10ms`},
		{breaker, "50%,window=400d", `window=`},
		{breaker, "50%,open=-1s", `is negative`},
		{breaker, "50%,open=0", `open="0" is not from 1ms`},
		{breaker, "50%,probes=65", `"65" is not a count for probes=`},
		{breaker, "5,window=10s", `window= belongs to a rate`},
		{breaker, "50%,cost=5", `"cost=" is not known here; the names are min, window, open, probes`},
		{breaker, "50%,open", `"open" is not name=value`},
		{budget, "10", `"10" is not a share of the runs such as 10%`},
		{budget, "10%,min=-1", `min=`},
		{budget, "10%,reserve=120%", `"120%" is not a share for reserve=`},
		{tokens, "0", `"0" is not a number of tokens`},
		{tokens, "+5", `"+5" is not`},
		{tokens, "5.5", `"5.5" is not`},
		{tokens, "500,cost=0", `cost=`},
		{tokens, "500,refill=1/h", `refill="1/h" is not tokens a second`},
		{slots, "0", `"0" is not`},
		{slots, "10001", `10000`},
		{slots, "4,of=run", `of="run" is not known; it is attempts, retries or runs`},
		{slots, "4,wait=-1", `negative`},
		{new(Priority), "urgent", `"urgent" is not a priority; use low, normal or high`},
	} {
		if err := c.into.UnmarshalText([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, without %q", c.text, err, c.says)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"50%", "5,open=30s,probes=1", "10%,min=3,window=60s,reserve=0%", "500,cost=5,timeout-cost=10,success=1,refill=0/s,reserve=0%", "4,wait=0s,of=attempts", "", ",", "=", "50%,=", "1%%", "٣%", ".%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b Breaker
		var u Budget
		var c Tokens
		var n Slots
		text := []byte(s)
		if b.UnmarshalText(text) == nil && (b.Rate < 0 || b.Rate > million || b.Row < 0 || (b.Rate > 0) == (b.Row > 0) || b.Open < 1 || b.Probes < 1 || b.Probes > maxProbes || b.Rate > 0 && b.Window < minWindow) {
			t.Errorf("%q: %+v", s, b)
		}
		if u.UnmarshalText(text) == nil && (u.Ratio < 0 || u.Ratio > million || u.Min < 0 || u.Window < minWindow || u.Window > maxDuration || u.Reserve < 0 || u.Reserve > million) {
			t.Errorf("%q: %+v", s, u)
		}
		if c.UnmarshalText(text) == nil && (c.Capacity < 1 || c.Cost < 1 || c.TimeoutCost < 1 || c.Success < 0 || c.Refill < 0) {
			t.Errorf("%q: %+v", s, c)
		}
		if n.UnmarshalText(text) == nil && (n.N < 1 || n.N > maxSlots || n.Wait < 0 || n.Wait > maxDuration || n.Of < 0) {
			t.Errorf("%q: %+v", s, n)
		}
	})
}

// FuzzRead gives a state whatever a file may hold; what is read can be asked.
func FuzzRead(f *testing.F) {
	for seed := range uint64(4) {
		var s State
		play(newRand(seed), randomGuards(newRand(seed)), &s, epoch, 50)
		var text []byte
		for _, n := range s.Append(nil) {
			text = appendVarint(text, n)
		}
		f.Add(text, int64(epoch), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte, now int64, op uint8) {
		if now < 0 || now > greatest {
			return
		}
		s, err := Read(varints(text))
		if err != nil {
			return
		}
		g := randomGuards(newRand(uint64(op)))
		Do(g, &s, &Request{Op: Op(op % 7), Attempt: 2, ID: 1, Slot: true, Held: -1, Taken: Taken{At: now, Budget: true, Cost: 5}}, now)
		if _, err := Read(s.Append(nil)); err != nil {
			t.Errorf("a request made %+v of it, which is not read", s)
		}
	})
}
