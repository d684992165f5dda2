// Package proctest runs the tests of a package that starts processes in a
// session of their own, so that neither the terminal, nor the dispositions, nor
// the open files of their parent decide what they see. Only tests import it. It knows
// nothing of the program, and it never changes a process that it did not start.
package proctest

// M is what Run needs of a testing.M.
type M interface{ Run() int }
