package statistics

import (
	"math"
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
