// Package linematch tries patterns on each line of a stream while it goes by.
//
// A Matcher reads what a command writes, in chunks of any size, and knows at
// the end which patterns some line matched. What happens to a chunk, each step
// in a file of its own:
//
//	escape.go   terminal escape sequences are removed
//	matcher.go  what is left goes through one automaton of all patterns
//	run.go      the inner loops of the automaton, whose
//	dfa.go      states are made when they are needed, from
//	nfa.go      the programs of package regexp/syntax
//
// Memory is bounded whatever the output: 64 KiB of a block without its escape
// sequences, and at most about 2.5 MiB for an automaton of usual patterns, which
// takes 150 KiB as a rule. No line is held. There may be as many automata as
// patterns, where their states thrash.
//
// The package reads no clock and no system; it will never say what a match
// means.
package linematch
