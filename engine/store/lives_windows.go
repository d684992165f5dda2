package store

// lives is true: on Windows a slot is free when its process has ended.
func lives(int) bool { return true }
