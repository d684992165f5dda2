package option

// This file finds settings that have no effect. A variable or a policy may be
// meant for other runs, so that only words of the command line count.

import (
	"fmt"
	"slices"
	"strings"
)

// ofAttempts are flags about attempts, of which --exec makes none.
var ofAttempts = []string{
	"attempts", "consecutive", "until-failure", "flaky-exit", "reset-after", "timeout", "idle-timeout", "kill-leftovers",
	"stdin", "stdout", "stderr", "success-on-exit", "on-exit", "stop-on-exit", "until-stdout", "until-stderr", "fail-on-stdout", "fail-on-stderr",
	"on-stdout", "on-stderr", "stop-on-stdout", "stop-on-stderr", "classify", "rules", "retry-after", "max-hint", "idempotency-key",
	"before-retry", "after-success", "retry-with", "retry-when", "breaker", "budget", "tokens", "max-concurrent", "adaptive", "dead-letter", "park",
	"metrics-file", "statsd", "otlp", "otlp-timeout", "otlp-args",
}

// withoutEffect returns a line for each group of flags that do nothing in this run.
func (r *resolver) withoutEffect(o *Options) (lines []string) {
	g := r.g
	if words := r.typed(ofAttempts...); g.Exec && len(words) > 0 {
		lines = append(lines, "no effect with --exec, which becomes the command and makes no attempts: "+strings.Join(words, ", "))
	}
	if o.Plan && g.Exec {
		lines = append(lines, "--exec has no effect with --plan, which runs nothing")
	}
	words := r.typed("key", "store", "store-timeout", "store-fail", "priority")
	if len(words) > 0 && !o.Guarding.Guards.Any() && !(o.Guarding.Key != "" && len(o.Policy.Rotate) > 0) && !o.PrintPolicy {
		lines = append(lines, "no effect without a guard (--breaker, --budget, --tokens, --max-concurrent, --adaptive): "+strings.Join(words, ", "))
	}
	limited := o.Policy.Timeout > 0 || o.Policy.IdleTimeout > 0 || o.Policy.Deadline > 0 || o.Policy.Hedge.Max > 1
	if number := r.text("signal"); len(r.typed("signal")) > 0 && !limited && strings.Trim(number, "0123456789") == "" {
		lines = append(lines, fmt.Sprintf("%s %s is the signal that ends an attempt at its limit, and there is no limit; a wait of %[2]s s before attempt 2 is --base %[2]s", r.word("signal"), number))
	}
	return lines
}

// typed are those of the flags that the command line has, as it names them.
func (r *resolver) typed(flags ...string) (words []string) {
	for _, flag := range flags {
		if r.from(flag) == FromCommandLine {
			words = append(words, r.word(flag))
		}
	}
	return words
}

// mostBehind is how many words at the end of a command may be flags of a run.
const mostBehind = 16

// Behind splits a command whose last words are flags of a run: they were probably
// meant for retry. Switches alone, such as -v, are most often meant for the
// command, and do not count.
func Behind(table []Flag, command []string) (before, flags []string) {
	for i := max(1, len(command)-mostBehind); i < len(command); i++ {
		if len(command[i]) < 2 || command[i][0] != '-' {
			continue
		}
		l, err := Read(table, command[i:], nil)
		of := func(test func(*Flag) bool) bool {
			return slices.ContainsFunc(l.Settings, func(s Setting) bool { return test(s.Flag) })
		}
		if err == nil && len(l.Command) == 0 && of(func(f *Flag) bool { return !f.IsBool() }) && !of(func(f *Flag) bool { return !f.HasVariable() }) {
			return command[:i], command[i:]
		}
	}
	return command, nil
}
