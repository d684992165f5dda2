package option

// This file resolves success, retry or stop (docs/deciding.md), and what --explain
// is given to judge (docs/classify.md).

import (
	"errors"
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
)

// judging resolves the sections on success, retry or stop.
func (r *resolver) judging(rules *engine.Rules) {
	g := r.g
	rules.SuccessOnExit, rules.StopOnExit, rules.OnExit = slices.Concat(g.SuccessOnExit...), slices.Concat(g.StopOnExit...), slices.Concat(g.OnExit...)
	rules.Stdout = engine.Patterns{
		Until: g.UntilStdout, FailOn: g.FailOnStdout, StopOn: g.StopOnStdout, On: g.OnStdout,
	}
	rules.Stderr = engine.Patterns{
		Until: g.UntilStderr, FailOn: g.FailOnStderr, StopOn: g.StopOnStderr, On: g.OnStderr,
	}
	rules.Mode = map[string]engine.Mode{"any": engine.Any, "smart": engine.Smart, "strict": engine.Strict}[g.Classify]
	if len(g.Rules) > 0 && !r.given("classify") {
		rules.Mode = engine.Smart // rules have no other use
	}
	if after := g.RetryAfter; !after.off {
		rules.Hints = engine.Hints{Use: true, Capture: r.given("retry-after"), Pattern: after.re}
	}
	rules.Hints.HeldStdout, rules.Hints.HeldStderr = g.Stdout == "hold", g.Stderr == "hold"
}

// explanation is what --explain is given to judge.
type explanation struct {
	Result                 attempt.Result
	StdoutFile, StderrFile string
	At                     time.Time // zero: now
}

// explanation resolves what --explain judges.
func (r *resolver) explanation() *explanation {
	g := r.g
	if !g.Explain {
		return nil
	}
	if !r.given("exit") {
		r.fail("explain", errors.New("needs the result that it judges: --exit CODE, or --exit SIGKILL, and --stderr-file FILE for what the command wrote"))
	}
	return &explanation{Result: g.Exit, StdoutFile: string(g.StdoutFile), StderrFile: string(g.StderrFile), At: g.At}
}
