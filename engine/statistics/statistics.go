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
	if hits == 0 { // exact; the difference of two roundings is not
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
