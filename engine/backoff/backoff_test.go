package backoff

// This file holds each formula against its definition, computed apart in
// big.Float, and against what must hold for every input.

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestCurvesTable(t *testing.T) {
	for _, c := range []struct {
		name  string
		curve Curve
		base  time.Duration
		want  []time.Duration
	}{
		{"exponential", Exponential(2), 100 * ms,
			[]time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms}},
		{"exponential 1.5", Exponential(1.5), 100 * ms,
			[]time.Duration{100 * ms, 150 * ms, 225 * ms, 337500 * time.Microsecond}},
		{"exponential 1", Exponential(1), 100 * ms, []time.Duration{100 * ms, 100 * ms, 100 * ms}},
		{"linear", Linear, 100 * ms, []time.Duration{100 * ms, 200 * ms, 300 * ms, 400 * ms}},
		{"constant", Constant, 100 * ms, []time.Duration{100 * ms, 100 * ms, 100 * ms}},
		{"fibonacci", Fibonacci, 100 * ms,
			[]time.Duration{100 * ms, 100 * ms, 200 * ms, 300 * ms, 500 * ms, 800 * ms, 1300 * ms}},
		{"list", List([]time.Duration{time.Second, 5 * time.Second}), 0,
			[]time.Duration{time.Second, 5 * time.Second, 5 * time.Second}},
		{"zero base", Exponential(2), 0, []time.Duration{0, 0, 0}},
	} {
		for i, want := range c.want {
			if got := c.curve(c.base, i+1); got != want {
				t.Errorf("%s: Delay(%d) = %v, want %v", c.name, i+1, got, want)
			}
		}
	}
}

// anyBase, anyCount and anyFactor draw from the whole range, with its ends.
func anyBase(r *rand.Rand) time.Duration {
	return [...]time.Duration{0, 1, ms, Longest, Longest - 1, time.Duration(r.Int64()),
		time.Duration(r.Int64N(int64(time.Minute)))}[r.IntN(7)]
}

func anyCount(r *rand.Rand) int {
	return [...]int{1, 2, 3, 62, 63, 64, 91, 92, 93, int(min(1<<31, int64(math.MaxInt))), math.MaxInt32,
		1 + r.IntN(200), 1 + r.IntN(math.MaxInt32)}[r.IntN(13)]
}

func anyFactor(r *rand.Rand) float64 {
	return [...]float64{1, 1.0000001, 1.5, 2, 10, 1e308, 1 + 9*r.Float64()}[r.IntN(7)]
}

func TestCurvesFollowTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	limit := big.NewInt(int64(Longest))
	held := func(x *big.Int) time.Duration {
		if x.Cmp(limit) > 0 {
			return Longest
		}
		return time.Duration(x.Int64())
	}
	for range 3000 {
		base, n := anyBase(r), anyCount(r)
		if got, want := Linear(base, n),
			held(new(big.Int).Mul(big.NewInt(int64(base)), big.NewInt(int64(n)))); got != want {
			t.Fatalf("linear base %d n %d: %d, want %d", base, n, got, want)
		}
		a, b := big.NewInt(1), big.NewInt(1)
		for range min(n, 200) - 1 {
			a, b = b, new(big.Int).Add(a, b)
		}
		if got, want := Fibonacci(base, n), held(a.Mul(a, big.NewInt(int64(base)))); got != want {
			t.Fatalf("fibonacci base %d n %d: %d, want %d", base, n, got, want)
		}
		factor := anyFactor(r)
		small := min(n, 40)
		x := new(big.Float).SetInt64(int64(base))
		for range small - 1 {
			x.Mul(x, big.NewFloat(factor))
		}
		want, _ := x.Float64()
		got := Exponential(factor)(base, small)
		if want >= math.MaxInt64 {
			if float64(got) < math.MaxInt64*(1-1e-9) {
				t.Fatalf("exponential base %d factor %v n %d: %d, want the longest", base, factor, small, got)
			}
		} else if math.Abs(float64(got)-want) > 1+want*1e-9 {
			t.Fatalf("exponential base %d factor %v n %d: %d, want %v", base, factor, small, got, want)
		}
	}
}

func TestCurvesNeverShrinkOrOverflow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		base, n := anyBase(r), anyCount(r)
		for i, c := range []Curve{Exponential(anyFactor(r)), Linear, Constant, Fibonacci} {
			before, d := c(base, max(1, n-1)), c(base, n)
			if before < 0 || d < before {
				t.Fatalf("curve %d, base %d: delay %d is %d, delay %d is %d", i, base, max(1, n-1), before, n, d)
			}
		}
	}
}

// anyU draws from [0, 1) with its ends.
func anyU(r *rand.Rand) float64 {
	return [...]float64{0, 0.5, math.Nextafter(1, 0), r.Float64()}[r.IntN(4)]
}

func anyJitter(r *rand.Rand) Jitter {
	return Jitter{JitterKind(r.IntN(5)), [...]float64{0, 25, 100, 100 * r.Float64()}[r.IntN(4)]}
}

func TestWaitStaysWithinCap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50000 {
		base := anyBase(r)
		s := Schedule{Base: base, Cap: anyBase(r), Jitter: anyJitter(r)}
		s.Curve = []Curve{Exponential(anyFactor(r)), Linear, Constant, Fibonacci,
			List([]time.Duration{base})}[r.IntN(5)]
		n, previous := anyCount(r), anyBase(r)
		if w := s.Wait(n, previous, anyU(r)); w < 0 || w > s.Cap {
			t.Fatalf("%+v: Wait(%d, %d) = %d outside [0, %d]", s, n, previous, w, s.Cap)
		}
		if p := s.Plain(n, previous); p < 0 || p > s.Cap {
			t.Fatalf("%+v: Plain(%d, %d) = %d outside [0, %d]", s, n, previous, p, s.Cap)
		}
		s.MinDelay = anyBase(r)
		if w := s.Wait(n, previous, anyU(r)); w < s.MinDelay || w > max(s.Cap, s.MinDelay) {
			t.Fatalf("%+v: Wait(%d, %d) = %d with floor %d", s, n, previous, w, s.MinDelay)
		}
	}
}

// TestJitterIsUniform puts 100,000 draws of each jitter into 20 cells of the
// range that its definition gives. With chi-squared at 19 degrees of freedom,
// 60 is passed once in 300,000 honest runs; the seed is fixed besides.
func TestJitterIsUniform(t *testing.T) {
	const d = time.Second
	for _, c := range []struct {
		name      string
		s         Schedule
		low, high time.Duration
	}{
		{"full", Schedule{Jitter: Jitter{Kind: Full}, Cap: 30 * d}, 0, d},
		{"equal", Schedule{Jitter: Jitter{Kind: Equal}, Cap: 30 * d}, d / 2, d},
		{"25%", Schedule{Jitter: Jitter{Percent, 25}, Cap: 30 * d}, 750 * ms, 1250 * ms},
		{"25% at the cap", Schedule{Jitter: Jitter{Percent, 25}, Cap: d}, 600 * ms, d},
		{"100%", Schedule{Jitter: Jitter{Percent, 100}, Cap: 30 * d}, 0, 2 * d},
		{"decorrelated", Schedule{Jitter: Jitter{Kind: Decorrelated}, Base: 500 * ms, Cap: 30 * d}, 500 * ms, 3 * d},
	} {
		c.s.Curve = func(time.Duration, int) time.Duration { return d }
		r := rand.New(rand.NewPCG(7, 8))
		const draws, cells = 100000, 20
		var count [cells]int
		for range draws {
			w := c.s.Wait(1, d, r.Float64())
			if w < c.low || w > c.high {
				t.Fatalf("%s: %v outside [%v, %v]", c.name, w, c.low, c.high)
			}
			count[min(int(float64(w-c.low)/float64(c.high-c.low)*cells), cells-1)]++
		}
		chi := 0.0
		for _, n := range count {
			chi += math.Pow(float64(n)-draws/cells, 2) / (draws / cells)
		}
		if chi > 60 {
			t.Errorf("%s is not uniform: chi-squared %.1f, cells %v", c.name, chi, count)
		}
	}
}

func TestDecorrelatedFollowsItsRecurrence(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	s := Schedule{Curve: Constant, Base: 100 * ms, Cap: 30 * time.Second, Jitter: Jitter{Kind: Decorrelated}}
	for range 200 {
		previous := s.Base
		for n := 1; n < 30; n++ {
			u := r.Float64()
			want := min(float64(s.Cap), float64(s.Base)+u*(3*float64(previous)-float64(s.Base)))
			got := s.Wait(n, previous, u)
			if math.Abs(float64(got)-want) > 2 {
				t.Fatalf("wait %d after %v with u %v = %v, want %v", n, previous, u, got, time.Duration(want))
			}
			previous = got
		}
	}
}

// The ends of the range: the least and the greatest random number, and durations that
// an arithmetic of 64 bits does not hold.
func TestWaitAtTheEnds(t *testing.T) {
	const almostOne = 1 - 1.0/(1<<53)
	constant := func(d time.Duration, j Jitter) Schedule {
		return Schedule{Curve: Constant, Base: d, Cap: Longest, Jitter: j}
	}
	for _, c := range []struct {
		name      string
		s         Schedule
		previous  time.Duration
		low, high time.Duration // by the least and the greatest random number
	}{
		{"full", constant(1000, Jitter{Kind: Full}), 0, 0, 999},
		{"equal", constant(1000, Jitter{Kind: Equal}), 0, 500, 999},
		{"equal, the longest", constant(Longest, Jitter{Kind: Equal}), 0, Longest / 2, Longest/2 + 1<<62 - 1<<9},
		{"decorrelated, a third", constant(1000, Jitter{Kind: Decorrelated}), Longest / 3, 1000, 3*(Longest/3) - 1<<10},
		{"decorrelated, more", constant(1000, Jitter{Kind: Decorrelated}), Longest/3 + 1, 1000, Longest - 1<<10},
		{"all of it", constant(1000, Jitter{Percent, 100}), 0, 0, 1999},
		{"nothing of it", constant(1000, Jitter{Percent, 0}), 0, 1000, 1000},
	} {
		if got := c.s.Wait(1, c.previous, 0); got != c.low {
			t.Errorf("%s: the least wait is %d, want %d", c.name, got, c.low)
		}
		// A float64 has 53 bits: 2^10 of 2^63 are lost.
		if got := c.s.Wait(1, c.previous, almostOne); (got-c.high).Abs() > 1<<11 || c.high < 1<<20 && got != c.high {
			t.Errorf("%s: the greatest wait is %d, want %d", c.name, got, c.high)
		}
	}
	s := constant(1, Jitter{Kind: Decorrelated})
	for previous, want := range map[time.Duration]time.Duration{Longest / 3: 3 * (Longest / 3),
		Longest/3 - 1: 3 * (Longest/3 - 1), Longest/3 + 1: Longest} {
		if got := s.Plain(1, previous); got != want {
			t.Errorf("after %d the wait is %d at most, want %d", previous, got, want)
		}
	}
	for ns, want := range map[float64]time.Duration{-1: 0, 0: 0, 0.5: 0, 1: 1, 1.5: 1, 1 << 62: 1 << 62,
		math.MaxInt64: Longest, math.Inf(1): Longest, math.Inf(-1): 0, math.NaN(): 0} {
		if got := FromFloat(ns); got != want {
			t.Errorf("FromFloat(%v) = %d, want %d", ns, got, want)
		}
	}
	for _, c := range [][3]time.Duration{{1, 2, 3}, {Longest, 0, Longest}, {Longest, 1, Longest},
		{1, Longest, Longest}, {Longest - 1, 1, Longest}, {Longest - 2, 1, Longest - 1}} {
		if got := Add(c[0], c[1]); got != c[2] {
			t.Errorf("Add(%d, %d) = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

func TestNoJitterIsPlain(t *testing.T) {
	s := Schedule{Curve: Linear, Base: time.Second, Cap: 3 * time.Second, Jitter: Jitter{Kind: None}}
	for n, want := range []time.Duration{1, 2, 3, 3, 3} {
		if got := s.Wait(n+1, 0, 0.99); got != want*time.Second {
			t.Errorf("Wait(%d) = %v, want %v", n+1, got, want*time.Second)
		}
	}
	s.Jitter = Jitter{Percent, 0}
	if got := s.Wait(2, 0, 0.99); got != 2*time.Second {
		t.Errorf("0%%: Wait(2) = %v, want 2s", got)
	}
}
