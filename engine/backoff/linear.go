package backoff

import "time"

// Linear is base x n.
type Linear struct{ Base time.Duration }

// Delay returns base x n.
func (l Linear) Delay(n int) time.Duration {
	if l.Base > 0 && time.Duration(n) > Longest/l.Base {
		return Longest
	}
	return l.Base * time.Duration(n)
}
