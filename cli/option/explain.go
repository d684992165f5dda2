package option

// This file resolves what --explain is given to judge (SPEC section 9).

import (
	"errors"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

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
	return &explanation{Result: g.Exit.Result, StdoutFile: string(g.StdoutFile), StderrFile: string(g.StderrFile), At: g.At.at}
}
