package signals

// Interruptible calls f: no signal is noted on Windows before Listen.
func Interruptible(f func()) { f() }
