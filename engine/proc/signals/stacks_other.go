//go:build !linux

package signals

// NoStacks does on Linux what its name says; elsewhere nothing is needed, or
// the kernel's interface keeps Go's action from being put back.
func NoStacks() {}
