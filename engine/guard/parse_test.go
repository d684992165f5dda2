package guard

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/retrysh/retry/testdata/tries"
)

func TestValuesAreRead(t *testing.T) {
	for text, want := range map[string]any{
		"12.5%, min=4,window=1m,open=1.5,probes=3": &Breaker{Rate: 125_000, Min: 4, Window: 60_000, Open: 1500,
			Probes: 3},
		"5":  &Breaker{Row: 5, Open: 30_000, Probes: 1},
		"0%": &Budget{On: true, Min: 3, Window: 60_000},
		"500,refill=0.5/s,reserve=20%,success=0": &Tokens{Capacity: 500, Cost: 5, TimeoutCost: 10, Refill: 500,
			Reserve: 200_000},
		"4,wait=1m,of=retries":    &Slots{N: 4, Wait: 60_000, Of: OfRetries},
		"50%":                     &Breaker{Rate: 500_000, Min: 10, Window: 60_000, Open: 30_000, Probes: 1},
		"7":                       &Breaker{Row: 7, Open: 30_000, Probes: 1},
		"500":                     &Tokens{Capacity: 500, Cost: 5, TimeoutCost: 10, Success: 1},
		"9,cost=2,timeout-cost=3": &Tokens{Capacity: 9, Cost: 2, TimeoutCost: 3, Success: 1},
		"4,lost=warn":             &Slots{N: 4, Lost: Warn},
		"4,lost=stop,wait=0.4ms":  &Slots{N: 4, Lost: Stop, Wait: 1},
		"4,of=runs":               &Slots{N: 4, Of: OfRuns},
		"low":                     pointer(Low),
		"high":                    pointer(High),
		"normal":                  pointer(Normal),
	} {
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
		if err := got.(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil ||
			!reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestAValueIsReadAfresh: of what was there before nothing is left.
func TestAValueIsReadAfresh(t *testing.T) {
	breaker, budget, tokens := Breaker{Rate: 1, Min: 2, Window: 3}, Budget{Ratio: 1, Reserve: 5},
		Tokens{Refill: 1, Reserve: 2}
	slots, rate := Slots{Wait: 5, Of: OfRuns, Lost: Stop}, RateLimit{Burst: 5, Wait: 7}
	for text, into := range map[string]encoding.TextUnmarshaler{"7": &breaker, "10%": &budget, "500": &tokens,
		"4": &slots, "5/s": &rate} {
		if err := into.UnmarshalText([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	if breaker != (Breaker{Row: 7, Open: 30_000, Probes: 1}) ||
		budget != (Budget{On: true, Ratio: 100_000, Min: 3, Window: 60_000}) ||
		tokens != (Tokens{Capacity: 500, Cost: 5, TimeoutCost: 10, Success: 1}) || slots != (Slots{N: 4}) ||
		rate != (RateLimit{Interval: 200_000, Burst: 1, Rate: "5/s", Wait: -1}) {
		t.Errorf("%+v, %+v, %+v, %+v, %+v", breaker, budget, tokens, slots, rate)
	}
}

func pointer[T any](v T) *T { return &v }

// TestSharesAreExact holds that each share with four decimals is read as it is
// written, in parts per million.
func TestSharesAreExact(t *testing.T) {
	step := tries.Every(97) // a prime: each digit occurs at each place
	for n := int64(0); n <= million; n += int64(step) {
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
		{slots, "4,lost=", `lost="" is not known; it is warn or stop`},
		{new(Priority), "urgent", `"urgent" is not a priority; use low, normal or high`},
	} {
		if err := c.into.UnmarshalText([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, without %q", c.text, err, c.says)
		}
	}
}

// TestLimitsOfValues: the least and the greatest value of each name are taken, and those beyond
// them are refused with both.
func TestLimitsOfValues(t *testing.T) {
	const year = "365d"
	for _, c := range []struct {
		value       func() encoding.TextUnmarshaler
		form        string // with @ for the value
		least, most string // that are taken
		below, over string // that are not; "" for none
		says        string
	}{
		{fresh[Breaker], "@", "0.0001%", "100%", "0%", "100.0001%", "(above 0% to 100%)"},
		{fresh[Breaker], "@", "1", "1000000000", "0", "1000000001", "(1 to 1000000000)"},
		{fresh[Breaker], "50%,min=@", "1", "1000000000", "0", "1000000001", "a count for min= (1 to 1000000000)"},
		{fresh[Breaker], "50%,window=@", "10ms", year, "9ms", "365d1ms", "from 10ms to 365 days"},
		{fresh[Breaker], "5,open=@", "1ms", year, "0", "365d1ms", "from 1ms to 365 days"},
		{fresh[Breaker], "5,probes=@", "1", "64", "0", "65", "a count for probes= (1 to 64)"},
		{fresh[Budget], "@", "0%", "100%", "", "101%", "(0% to 100%)"},
		{fresh[Budget], "10%,min=@", "0", "1000000000", "-1", "1000000001", "(0 to 1000000000)"},
		{fresh[Budget], "10%,window=@", "10ms", year, "9ms", "366d", "from 10ms to 365 days"},
		{fresh[Budget], "10%,reserve=@", "0%", "100%", "-1%", "101%", "a share for reserve= such as 10% (0% to 100%)"},
		{fresh[Tokens], "@", "1", "1000000000", "0", "1000000001", "a number of tokens (1 to 1000000000)"},
		{fresh[Tokens], "9,cost=@", "1", "1000000000", "0", "1000000001", "a count for cost="},
		{fresh[Tokens], "9,timeout-cost=@", "1", "1000000000", "0", "1000000001", "a count for timeout-cost="},
		{fresh[Tokens], "9,success=@", "0", "1000000000", "-1", "1000000001", "a count for success="},
		{fresh[Tokens], "9,refill=@", "0/s", "1000000000/s", "-1/s", "1000000001/s", "(0/s to 1000000000/s)"},
		{fresh[Tokens], "9,reserve=@", "0%", "100%", "-1%", "101%", "a share for reserve="},
		{fresh[Slots], "@", "1", "10000", "0", "10001", "a number of attempts at a time (1 to 10000)"},
		{fresh[Slots], "4,wait=@", "0", year, "", "365d1ms", "from 0s to 365 days"},
		{fresh[Slots], "4,lost=@", "warn", "stop", "", "wait", `lost="wait" is not known; it is warn or stop`},
		{fresh[Slots], "4,of=@", "attempts", "runs", "", "all",
			`of="all" is not known; it is attempts, retries or runs`},
		{fresh[RateLimit], "@", "1/365d", "1000000000/1000s", "0/s", "1000000001/s",
			"such as 5/s or 100/1m (1 to 1000000000)"},
		{fresh[RateLimit], "1/@", "1us", year, "0s", "366d", "the time is not above 0 and up to 365 days"},
		{fresh[RateLimit], "@/s", "1", "1000000", "", "1000001", "more than a million attempts a second"},
		{fresh[RateLimit], "5/s,burst=@", "1", "157680001", "0", "157680002", ""},
		{fresh[RateLimit], "5/s,wait=@", "0", year, "", "365d1ms", "from 0s to 365 days"},
	} {
		for _, text := range []string{c.least, c.most} {
			if err := c.value().UnmarshalText([]byte(strings.ReplaceAll(c.form, "@", text))); err != nil {
				t.Errorf("%s: %v", c.form, err)
			}
		}
		for _, text := range []string{c.below, c.over} {
			if text == "" {
				continue
			}
			if err := c.value().UnmarshalText([]byte(strings.ReplaceAll(c.form, "@", text))); err == nil ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %s: %v, without %q", c.form, text, err, c.says)
			}
		}
	}
}

func fresh[T any, P interface {
	*T
	encoding.TextUnmarshaler
}]() encoding.TextUnmarshaler {
	return P(new(T))
}

// TestRates holds the interval of a rate, rounded up to microseconds.
func TestRates(t *testing.T) {
	for text, want := range map[string]RateLimit{
		"5/s":                {Interval: 200_000, Burst: 1, Rate: "5/s", Wait: -1},
		"3/s":                {Interval: 333_334, Burst: 1, Rate: "3/s", Wait: -1},
		"1/m":                {Interval: 60_000_000, Burst: 1, Rate: "1/m", Wait: -1},
		"5/min":              {Interval: 12_000_000, Burst: 1, Rate: "5/min", Wait: -1},
		"36/hour":            {Interval: 100_000_000, Burst: 1, Rate: "36/hour", Wait: -1},
		"100/1m30s":          {Interval: 900_000, Burst: 1, Rate: "100/1m30s", Wait: -1},
		"2/h,burst=7,wait=0": {Interval: 1_800_000_000, Burst: 7, Rate: "2/h"},
		"1/d, wait = 1.5s":   {Interval: 86_400_000_000, Burst: 1, Rate: "1/d", Wait: 1500},
		"1000000/s":          {Interval: 1, Burst: 1, Rate: "1000000/s", Wait: -1},
	} {
		var got RateLimit
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"5":                 `"5" is not attempts in a time such as 5/s or 100/1m (1 to 1000000000)`,
		"":                  `"" is not attempts in a time`,
		"/s":                `"/s" is not attempts in a time`,
		"+5/s":              `"+5/s" is not attempts in a time`,
		"x/s":               `"x/s" is not attempts in a time`,
		"5/x":               `"5/x" is not attempts in a time such as 5/s or 100/1m: `,
		"1/1ns":             `"1/1ns" is more than a million attempts a second`,
		"5/-1s":             `"5/-1s" is not attempts in a time such as 5/s or 100/1m: `,
		"1/365d,burst=3":    `burst=3 takes more than 365 days to come back at 1/365d`,
		"x/s,burst=9999999": `"x/s" is not attempts in a time`,
	} {
		if err := new(RateLimit).UnmarshalText([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWhatIsAboveZeroIsNotZero: a share or a refill that is less than its unit is one.
func TestWhatIsAboveZeroIsNotZero(t *testing.T) {
	var b Breaker
	var c Tokens
	if err := b.UnmarshalText([]byte("0.00001%")); err != nil || b.Rate != 1 {
		t.Errorf("%+v, %v", b, err)
	}
	if err := c.UnmarshalText([]byte("9,refill=0.0001/s")); err != nil || c.Refill != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"50%", "5,open=30s,probes=1", "10%,min=3,window=60s,reserve=0%",
		"500,cost=5,timeout-cost=10,success=1,refill=0/s,reserve=0%", "4,wait=0s,of=attempts", "", ",", "=", "50%,=",
		"1%%", "٣%", ".%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b Breaker
		var u Budget
		var c Tokens
		var n Slots
		text := []byte(s)
		if b.UnmarshalText(text) == nil &&
			(b.Rate < 0 || b.Rate > million || b.Row < 0 || (b.Rate > 0) == (b.Row > 0) || b.Open < 1 ||
				b.Probes < 1 || b.Probes > maxProbes || b.Rate > 0 && b.Window < minWindow) {
			t.Errorf("%q: %+v", s, b)
		}
		if u.UnmarshalText(text) == nil &&
			(u.Ratio < 0 || u.Ratio > million || u.Min < 0 || u.Window < minWindow || u.Window > maxDuration ||
				u.Reserve < 0 || u.Reserve > million) {
			t.Errorf("%q: %+v", s, u)
		}
		if c.UnmarshalText(text) == nil &&
			(c.Capacity < 1 || c.Cost < 1 || c.TimeoutCost < 1 || c.Success < 0 || c.Refill < 0) {
			t.Errorf("%q: %+v", s, c)
		}
		if n.UnmarshalText(text) == nil &&
			(n.N < 1 || n.N > maxSlots || n.Wait < 0 || n.Wait > maxDuration || n.Of < 0) {
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
		Do(g, &s, &Request{Op: Op(op % 7), Attempt: 2, ID: 1, Slot: true, Held: -1,
			Taken: Taken{At: now, Budget: true, Cost: 5}}, now)
		if _, err := Read(s.Append(nil)); err != nil {
			t.Errorf("a request made %+v of it, which is not read", s)
		}
	})
}
