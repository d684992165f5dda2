// Package tree finds the processes that an attempt has started, and ends them all:
// stopped ones, those in another process group or session, orphans, and those that
// start new ones as fast as they are killed. Where several attempts run at once it
// ends the processes of its own attempt only.
//
// Its caller decides when. On Windows a job does this (package spawn).
package tree
