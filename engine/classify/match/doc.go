// Package match tries patterns on each line of a stream while it goes by.
//
// A Matcher is told what a command writes, in chunks of any size, and knows at
// the end which patterns some line matched. What happens to a chunk, each step
// in a file of its own:
//
//	escape.go   terminal escape sequences are removed
//	matcher.go  text becomes lines
//	sieve.go    which lines are worth trying, by
//	filter.go   a search for the literals that
//	literal.go  each pattern cannot match without
//	run.go      the inner loops of the automaton, whose
//	dfa.go      states are made when they are needed, from
//	nfa.go      the programs of package regexp/syntax
//
// Memory is bounded whatever the output: 64 KiB of a line, 64 KiB of a block
// without its escape sequences, and about 2 MiB for each automaton at the
// worst. The package reads no clock and no system; it will never say what a
// match means.
package match
