//go:build !(linux && (amd64 || arm64))

package note

// Can is false: this system has no handler of this package's own, and nothing
// is ever noted.
const Can = false

func Start(int)     {}
func Stop(int)      {}
func On(int) bool   { return false }
func Has(int) bool  { return false }
func Take(int) bool { return false }
func Exit(int) bool { return false }
