// Package spawn finds a command as execvp(3) does and starts it, with the streams
// and the process group that it is given, and says in words and by an exit code
// why it cannot be started: 127 for what is not there, 126 for what cannot be
// executed.
//
// It waits for nothing and ends nothing; the child is package reap's. On Windows a
// process comes in a job object, by which all that it starts is ended.
package spawn
