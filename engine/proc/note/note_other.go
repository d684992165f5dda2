//go:build !(linux && (amd64 || arm64))

package note

// Can is false: this system has no handler of this package's own, and nothing
// is ever noted.
const Can = false

// Start does nothing here.
func Start(int) {}

// Stop does nothing here.
func Stop(int) {}

// On is false here.
func On(int) bool { return false }

// Ignored is not known here.
func Ignored(int) bool { return false }

// Has is false here.
func Has(int) bool { return false }

// Take is false here.
func Take(int) bool { return false }
