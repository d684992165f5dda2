// Package engine runs a command again and again until it succeeds, until
// trying again makes no sense, or until no attempt or time is left.
//
// The layers, from the inside out:
//
//   - Decide is a pure function: policy, state, what came of an attempt, the
//     time and one random number go in; accept, stop or wait comes out.
//   - Run is the loop around it: attempt, decide, emit events, wait.
//   - attempt.Starter starts attempts (a process in proc, a check in probe), Sink is
//     told what happened, Signals says when a person wants the wait to end.
//     All three are interfaces or channels, so that a fake clock can drive
//     hours of waiting in microseconds.
//
// The engine never touches a process, a file, the network or the environment;
// it reads the clock and sleeps in run.go and wait.go alone. The schedule that --plan
// prints comes from the same Decide.
package engine
