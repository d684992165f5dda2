// Package simulate follows many clients at once through arithmetic time: an
// outage and what comes after it, for a server that can take so many calls a
// second; and a race for one row.
//
// The clients are those of the program: engine.Decide, backoff's schedules and
// the guards, over a heap of events. The random numbers come in as an argument,
// so that the same numbers give the same run. The package will never sleep,
// read a clock, print, or judge which policy is best.
package simulate
