package backoff

import (
	"math"
	"time"
)

// Exponential is base x factor^(n-1), the truncated exponential backoff of
// IEEE 802.3 and of the AWS Architecture Blog, "Exponential Backoff And
// Jitter" (2015). Factor is at least 1.
type Exponential struct {
	Base   time.Duration
	Factor float64
}

// Delay returns base x factor^(n-1).
func (e Exponential) Delay(n int) time.Duration {
	if e.Base == 0 {
		return 0
	}
	return FromFloat(float64(e.Base) * math.Pow(e.Factor, float64(n-1)))
}
