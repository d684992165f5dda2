package proc

// Screen is a terminal that several runs may write to. On Linux they know of one
// another by locks on it, which the kernel frees when a run ends.
type Screen struct {
	fd int
	screenLocks
}

// OpenScreen is for the terminal that fd is open on. It opens nothing yet.
func OpenScreen(fd int) *Screen { return &Screen{fd: fd} }

// Claim asks for the right to draw a line in place, and reports whether it was
// given: no other run has it, and no process of the job writes there but the
// command and those that wait for this program.
func (s *Screen) Claim() bool { return !besideOthers() && s.lock(s.fd) }
