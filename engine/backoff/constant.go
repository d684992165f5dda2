package backoff

import "time"

// Constant is base, always.
type Constant struct{ Base time.Duration }

// Delay returns base.
func (c Constant) Delay(int) time.Duration { return c.Base }
