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
// without its escape sequences, 70 KiB for the filter and at most about 2.5 MiB
// for an automaton of usual patterns, which takes 150 KiB as a rule. There may
// be as many automata as patterns, where their states thrash.
//
// The package reads no clock and no system; it will never say what a match
// means.
//
// # What was tried
//
// Figures are GB/s of CPU time of one thread, the best of eight passes over
// 1 MiB of log lines, on two cores of an EPYC that others used as well: the same
// case varied by a third. The patterns are those of bench_test.go.
//
//	one pattern with a literal                     8
//	sixty                                          2.0 - 2.7
//	... with all needles among the probes          1.3
//	... and a filter that cannot learn             0.9 - 1.1
//	... all in one automaton instead of a filter   1.2
//	... on one line without an end                 0.45
//	... on lines that are all candidates           0.75 - 1
//	patterns without a literal, one / ten          1.1 - 1.7 / 0.7 - 1.1
//	... one alone in one lane instead of four      0.45
//	... text in Japanese                           0.27
//	... a pattern of 10,000 words                  0.9 - 1.2
//	... states that thrash, [aeiou].{14}#          0.015 (package regexp: 0.014)
//	... sixty such patterns                        under 0.0005
//	nothing but escape sequences                   0.2 - 0.3
//
// What did not help: a filter of 32 KiB (no difference above the noise) or of
// 8 KiB (three quarters of the speed); blocks of 8 to 128 KiB instead of 64 (no
// difference); compiling all patterns with a literal when the first of them
// comes up (0.55 ms before the first match instead of 0.2 ms); reading patterns
// that are plain text with regexp/syntax (180 us for sixty instead of 60).
package match
