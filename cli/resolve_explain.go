package cli

// This file resolves what --explain is given to judge (SPEC section 9).

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// explanation is what --explain is given to judge.
type explanation struct {
	result                 attempt.Result
	stdoutFile, stderrFile string
	at                     time.Time // zero: now
}

// explanation resolves what --explain judges.
func (r *resolver) explanation() *explanation {
	g := r.g
	if !g.Explain {
		for _, flag := range []string{"exit", "stdout-file", "stderr-file", "at"} {
			if r.given(flag) {
				r.fail(flag, errors.New("goes with --explain only"))
			}
		}
		return nil
	}
	x := &explanation{stdoutFile: g.StdoutFile, stderrFile: g.StderrFile}
	r.fileName("stdout-file", g.StdoutFile)
	r.fileName("stderr-file", g.StderrFile)
	if code, err := strconv.ParseUint(g.Exit, 10, 8); err == nil {
		x.result.ExitCode = int(code)
	} else if signal, err := attempt.ParseSignal(g.Exit); err == nil {
		number, known := signalNumber(signal)
		if !known {
			r.fail("exit", fmt.Errorf("this system has no signal %q", g.Exit))
		}
		x.result = attempt.Result{Signal: signal, ExitCode: exitcodes.OfSignal(number)}
	} else {
		r.fail("exit", fmt.Errorf("%q is not an exit code from 0 to 255 or a signal such as SIGKILL; --explain needs one", g.Exit))
	}
	if r.given("at") {
		seconds, err := strconv.ParseFloat(g.At, 64)
		if err != nil || !(math.Abs(seconds) < 1e11) {
			r.fail("at", fmt.Errorf("%q is not a Unix time in seconds, such as 1795213573", g.At))
		}
		x.at = time.UnixMilli(int64(seconds * 1000))
	}
	return x
}
