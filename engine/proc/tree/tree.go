// Package tree knows which processes an attempt has started, and ends them all:
// what stands still, what has moved to another process group or session, what has
// lost its parent, what starts new ones as fast as they are killed. Where attempts
// run beside one another it ends no other's.
//
// It never decides that something is to be ended, and reaps the leader only when
// it is told to. On Windows a job does this (package spawn).
package tree
