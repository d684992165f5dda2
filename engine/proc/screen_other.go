//go:build !linux

package proc

// screenLocks has no locks: terminals cannot be locked here.
type screenLocks struct{}

func (screenLocks) lock(int) bool { return true }

// Release has nothing to give back.
func (*Screen) Release() {}

// Crowded cannot be asked here.
func (*Screen) Crowded() bool { return false }
