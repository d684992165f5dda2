package proc

// EditsLines reports false: what a console program does with its screen cannot
// be seen from outside.
func EditsLines(int) bool { return false }
