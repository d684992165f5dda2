package backoff

// This file holds the jitters, which spread the waits of clients that failed at the same
// time. Full, equal and decorrelated jitter are those of the AWS Architecture Blog,
// "Exponential Backoff And Jitter" (2015).

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// JitterKind names a way to spread a delay.
type JitterKind int

// The ways to spread a delay d by a uniform random number u in [0, 1).
const (
	// Full is u x d.
	Full JitterKind = iota
	// Equal is d/2 + u x d/2.
	Equal
	// Decorrelated is min(cap, base + u x (3 x previous wait - base)).
	Decorrelated
	// None is d.
	None
	// Percent is d' x (1 - P/100 + u x 2P/100) with d' = min(d, cap/(1 + P/100)): no wait
	// is above cap, and waits do not pile up there.
	Percent
)

// kindNames are the names of the kinds but Percent, in their order.
var kindNames = []string{"full", "equal", "decorrelated", "none"}

// Jitter is a way to spread a delay, with P in [0, 100] for Percent.
type Jitter struct {
	Kind JitterKind
	P    float64
}

// ParseJitter reads full, equal, decorrelated, none or a percentage such as "25%" from 0%
// to 100%.
func ParseJitter(s string) (Jitter, error) {
	if kind := slices.Index(kindNames, s); kind >= 0 {
		return Jitter{Kind: JitterKind(kind)}, nil
	}
	number, isPercent := strings.CutSuffix(s, "%")
	p, err := strconv.ParseFloat(number, 64)
	if isPercent && err == nil && p >= 0 && p <= 100 {
		return Jitter{Kind: Percent, P: p}, nil
	}
	return Jitter{}, fmt.Errorf("%q is not a jitter; use full, equal, decorrelated, none, or a percentage from 0%% to 100%% such as 25%%", s)
}

// String is what ParseJitter reads.
func (j Jitter) String() string {
	if j.Kind == Percent {
		return strconv.FormatFloat(j.P, 'g', -1, 64) + "%"
	}
	return kindNames[j.Kind]
}
