// Package note takes signals in a handler of its own, which Go's runtime knows nothing
// of: the runtime cannot catch one without starting threads, while this handler sets a
// word and returns. That is enough as long as the signal is not waited for.
//
// It imports no package that has to be initialised, not even syscall, so that it works
// before those (see package early). What a signal means is not known here.
package note
