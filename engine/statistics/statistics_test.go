package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s = %v, want %v", name, got, want)
	}
}

// The figures were computed from the published formula by another program.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{
		{0, 0, 0, 1}, {0, 10, 0, 0.2775327}, {10, 10, 0.7224672, 1}, {1, 20, 0.008881449, 0.2361312},
		{5, 100, 0.02154368, 0.1117505}, {1, 2, 0.09453121, 0.9054688},
	} {
		low, high := Wilson(c.hits, c.n)
		near(t, "low", low, c.low)
		near(t, "high", high, c.high)
	}
}

func TestQuantile(t *testing.T) {
	for p, want := range map[float64]float64{0: 1, 0.5: 2.5, 0.9: 3.7, 1: 4} {
		near(t, "quantile", Quantile([]float64{1, 2, 3, 4}, p), want)
	}
	near(t, "one value", Quantile([]float64{7}, 0.9), 7)
}

// For b = 1 the share below x is x^a, for a = 1 it is 1 - (1-x)^b; Beta(2, 2) has
// 3x^2 - 2x^3 below x.
func TestBetaQuantile(t *testing.T) {
	for _, p := range []float64{0.05, 0.5, 0.95} {
		for _, n := range []float64{1, 1.5, 2, 17, 400, 20000} {
			near(t, "b = 1", BetaQuantile(p, n, 1), math.Pow(p, 1/n))
			near(t, "a = 1", BetaQuantile(p, 1, n), 1-math.Pow(1-p, 1/n))
		}
		x := BetaQuantile(p, 2, 2)
		near(t, "Beta(2, 2)", 3*x*x-2*x*x*x, p)
	}
}

// A percentile is that of drawn values: a beta variable is the k-th of n uniform
// ones.
func TestBetaQuantileOfDraws(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const a, b, draws = 4, 9, 20_000
	values := make([]float64, draws)
	for i := range values {
		uniform := make([]float64, a+b-1)
		for j := range uniform {
			uniform[j] = random.Float64()
		}
		slices.Sort(uniform)
		values[i] = uniform[a-1]
	}
	slices.Sort(values)
	for _, p := range []float64{0.05, 0.5, 0.95} {
		if got, want := BetaQuantile(p, a, b), Quantile(values, p); math.Abs(got-want) > 0.01 {
			t.Errorf("percentile %v = %v, drawn %v", p, got, want)
		}
	}
}
