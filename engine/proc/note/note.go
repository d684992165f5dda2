// Package note takes signals in a handler of its own, below Go's runtime, which
// cannot catch one without starting threads: the handler sets a word and
// returns. That is enough as long as the signal is not waited for.
//
// It needs no other package, not even syscall, so that it works before those
// have been initialised (see package early). It will never say what a signal
// means, and never wait for one.
package note
