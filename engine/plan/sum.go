package plan

// This file is the arithmetic of a sum of independent uniform waits.

import (
	"math"
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
)

// uniformSum is a fixed duration and independent waits, each uniform in [0, w];
// widths has the waits by their w.
type uniformSum struct {
	fixed  float64 // nanoseconds, as are the widths
	widths []widthCount
	count  int // of all widths
}

type widthCount struct {
	width float64
	count int
}

// A closed form of more terms takes longer than a draw, and one that is less
// certain, since its terms cancel one another out, is worse than a draw.
const (
	mostTerms = 1 << 13
	certainty = 1e-5 // of probability
)

// sumOf is the sum of the waits of a run whose attempts fail at once. There is
// none where a wait depends on the one before, where a floor cuts into a wait's
// range, where the deadline may cut the sum, or where it would take too long.
func sumOf(p *engine.Policy) (uniformSum, bool) {
	if p.Attempts == 0 && p.Deadline == 0 {
		return uniformSum{fixed: math.Inf(1)}, true
	}
	if p.Attempts == 0 || p.Schedule.Jitter.Kind == backoff.Decorrelated {
		return uniformSum{}, false
	}
	if p.Deadline > 0 && backoff.Add(backoff.Add(p.InitialDelay, p.Splay), greatestWaits(p)) > p.Deadline {
		return uniformSum{}, false
	}
	if p.Schedule.Jitter.Kind == backoff.None {
		return uniformSum{fixed: float64(greatestWaits(p))}, true
	}
	var sum uniformSum
	for n := 1; n < p.Attempts; n++ {
		if n > mostTerms || !sum.add(&p.Schedule, n) {
			return uniformSum{}, false
		}
	}
	return sum, sum.count == 0 || sum.error() < certainty
}

// add adds wait n, unless a floor cuts into its range or the sum gets too long.
func (u *uniformSum) add(s *backoff.Schedule, n int) bool {
	floor := s.MinDelay
	free := *s
	free.MinDelay = 0
	low, high := free.Wait(n, 0, 0), free.Wait(n, 0, 1)
	if low < floor && floor < high {
		return false
	}
	low, high = max(low, floor), max(high, floor)
	u.fixed += float64(low)
	if high == low {
		return true
	}
	width := float64(high - low)
	u.count++
	i := slices.IndexFunc(u.widths, func(w widthCount) bool { return w.width == width })
	if i < 0 {
		i = len(u.widths)
		u.widths = append(u.widths, widthCount{width: width})
	}
	u.widths[i].count++
	terms := 1
	for _, w := range u.widths {
		if terms *= w.count + 1; terms > mostTerms {
			return false
		}
	}
	return true
}

// median of a sum that is spread evenly to both sides is its mean.
func (u *uniformSum) median() time.Duration {
	return backoff.FromFloat(math.Round(u.fixed + u.span()/2))
}

// span is how far the greatest sum lies from the least.
func (u *uniformSum) span() float64 {
	sum := 0.0
	for _, w := range u.widths {
		sum += w.width * float64(w.count)
	}
	return sum
}

// percentile returns what the share of all sums is below, by bisection.
func (u *uniformSum) percentile(share float64) time.Duration {
	low, high := 0.0, u.span()
	for u.count > 0 && high-low > 1 {
		if middle := (low + high) / 2; u.below(middle) < share {
			low = middle
		} else {
			high = middle
		}
	}
	return backoff.FromFloat(math.Round(u.fixed + low))
}

// below is the probability that the uniform parts add up to x or less: the
// volume of a simplex, cut by inclusion and exclusion,
//
//	1/(n! w1...wn) x sum over all subsets S of (-1)^|S| (x - sum of S)^n
//
// over the subsets whose sum is below x (Feller, An Introduction to Probability
// Theory and Its Applications, volume 2, I.9, for unequal widths).
func (u *uniformSum) below(x float64) float64 { return u.cut(0, x, -1) }

// error is how far below may be off: the last binary digit of all its terms.
func (u *uniformSum) error() float64 { return u.cut(0, u.span()/2, 1) * 0x1p-52 }

// cut is the sum over all subsets of the widths from i on, with sign^|S| for
// (-1)^|S|. Each width divides the terms by its share of n! w1...wn, and takes
// its part of the power along, so that no number gets too large.
func (u *uniformSum) cut(i int, x, sign float64) float64 {
	if x <= 0 {
		return 0
	}
	if i == len(u.widths) {
		product, n := 1.0, 0
		for _, w := range u.widths {
			for range w.count {
				n++
				product *= x / w.width / float64(n)
			}
		}
		return product
	}
	w := u.widths[i]
	sum, choose := 0.0, 1.0 // sign^j times w.count over j
	for j := range w.count + 1 {
		sum += choose * u.cut(i+1, x-float64(j)*w.width, sign)
		choose *= sign * float64(w.count-j) / float64(j+1)
	}
	return sum
}
