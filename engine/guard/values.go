package guard

// This file remembers which values of rotated names have failed (docs/rotation.md),
// so that the runs on a key try them last.

const (
	// valuesFor is how long a failure counts, in milliseconds.
	valuesFor = 30_000
	// maxFailed is how many values are remembered: the last ones.
	maxFailed = 100
)

// valuesFailed remembers that values have failed now.
func (s *State) valuesFailed(values []int64, now int64) {
	s.Failed = expire(s.Failed, now)
	for _, v := range values {
		s.Failed = append(release(s.Failed, v), Lease{v, now + valuesFor})
	}
	s.Failed = s.Failed[max(0, len(s.Failed)-maxFailed):]
}

// FailedLately says which values have failed in the last 30 s.
func (s *Snapshot) FailedLately(values []int64) []bool {
	failed := make([]bool, len(values))
	for i, v := range values {
		for _, l := range s.State.Failed {
			failed[i] = failed[i] || l.ID == v && l.Until > s.Now
		}
	}
	return failed
}
