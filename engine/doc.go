// Package engine runs a command again and again until it succeeds, until
// trying again makes no sense, or until no attempt or time is left.
//
// The layers, from the inside out:
//
//   - Decide is a pure function: policy, state, what came of an attempt, the
//     time and one random number go in; accept, stop or wait comes out.
//   - Run is the loop around it: attempt, decide, emit events, wait.
//   - attempt.Starter starts attempts (a process in proc, a check in probe), Sink
//     gets the events, Signals says when a person wants the wait to end, Clock
//     tells the time. All are interfaces or channels, so that a run of hours can
//     be tested in microseconds.
//
// The engine never touches a process, a file, the network or the environment.
// The schedule that --plan prints comes from the same Decide.
package engine
