package backoff

import "time"

// List gives delays one by one and repeats the last. It is never empty.
type List []time.Duration

// Delay returns the n-th delay, or the last one.
func (l List) Delay(n int) time.Duration { return l[min(n, len(l))-1] }
