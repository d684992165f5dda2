// Package statistics has the few formulas by which runs are judged: intervals of
// a share, and percentiles.
//
// Every function is pure. The package never rounds.
package statistics

import "math"

// z95 is the two-sided 95 % point of the normal distribution.
const z95 = 1.959963984540054

// Wilson returns the two-sided 95 % interval of Wilson for a share of hits among
// n cases (Wilson 1927, JASA 22, 209). Without cases it is 0 to 1.
func Wilson(hits, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	cases := float64(n)
	share := float64(hits) / cases
	centre := share + z95*z95/(2*cases)
	half := z95 * math.Sqrt(share*(1-share)/cases+z95*z95/(4*cases*cases))
	whole := 1 + z95*z95/cases
	low, high = (centre-half)/whole, (centre+half)/whole
	if hits == 0 { // exact, where the difference of two roundings is not
		low = 0
	}
	if hits == n {
		high = 1
	}
	return low, high
}

// Quantile returns the value below which a share p of sorted lies, between two
// values by linear interpolation (method 7 of Hyndman and Fan 1996): the median of
// an even number is the mean of the two in the middle. sorted is not empty.
func Quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

// BetaQuantile returns the value below which a share p of the beta distribution
// lies; a and b are at least 1.
func BetaQuantile(p, a, b float64) float64 {
	low, high := 0.0, 1.0
	for range 60 { // a double has 53 digits
		if middle := (low + high) / 2; betaShare(middle, a, b) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// betaShare is the regularized incomplete beta function I_x(a, b), by its
// continued fraction (DLMF 8.17.22), on the side where it converges fast.
func betaShare(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return max(0, min(x, 1))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaShare(1-x, b, a)
	}
	sum, _ := math.Lgamma(a + b)
	first, _ := math.Lgamma(a)
	second, _ := math.Lgamma(b)
	front := math.Exp(sum - first - second + a*math.Log(x) + b*math.Log1p(-x))
	return front * fraction(x, a, b) / a
}

// fraction evaluates the continued fraction by Lentz's method (DLMF 3.10.3).
func fraction(x, a, b float64) float64 {
	const (
		tiny    = 1e-300
		precise = 1e-15
		longest = 10_000
	)
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	value := d
	for i := 1; i < longest; i++ {
		m := float64(i)
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/nonzero(1+even*d), nonzero(1+even/c)
		value *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/nonzero(1+odd*d), nonzero(1+odd/c)
		step := d * c
		value *= step
		if math.Abs(step-1) < precise {
			break
		}
	}
	return value
}
