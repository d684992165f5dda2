// Package rehearse simulates attempts by a list of results, so that every path of a policy
// can be tried without running the command.
//
// The list has a step for each attempt, like the fault injection of fail(9). The Starter
// returns the result of a step in place of that of a process, without a judgement.
package rehearse

// This file reads a list of steps.

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/exitcodes"
)

// Step is for one attempt, or several in a row.
type Step struct {
	// Chance is the probability that an attempt pretends, from 0 to 1; otherwise its
	// command is run, as by the step run, whose fields below are not set.
	Chance float64
	// Times is the number of attempts, 0 for all that follow.
	Times int
	// Result is that of the attempt: a code, a signal, or TimedOut.
	Result attempt.Result
	// Takes is how long the attempt lasts. A limit of the attempt may be shorter.
	Takes time.Duration
}

// Steps are those of the attempts of a run, in order. After the last step the command is
// run.
type Steps []Step

// Parse reads STEPS: a comma-separated list of [P%][N*]RESULT[:D]. RESULT is a code
// from 0 to 255, a signal's name, timeout or run; ** in place of N* is for ever. number
// returns a signal's number on this system.
func Parse(list string, number func(attempt.Signal) (int, bool)) (Steps, error) {
	var steps Steps
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			return nil, fmt.Errorf("%q has an empty step; write one for each attempt, as in 75,75,0", list)
		}
		if n := len(steps); n > 0 && steps[n-1].Times == 0 {
			return nil, fmt.Errorf("step %q is never reached, since the one before it stands for all attempts that "+
				"follow", item)
		}
		step, err := parseStep(item, number)
		if err != nil {
			return nil, fmt.Errorf("step %q: %w", item, err)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func parseStep(item string, number func(attempt.Signal) (int, bool)) (Step, error) {
	step := Step{Chance: 1, Times: 1}
	if percent, rest, ok := strings.Cut(item, "%"); ok {
		p, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(p >= 0 && p <= 100) {
			return step, fmt.Errorf("%q is not a percentage from 0 to 100", percent+"%")
		}
		step.Chance, item = p/100, rest
	}
	if rest, ok := strings.CutPrefix(item, "**"); ok {
		step.Times, item = 0, rest
	} else if times, rest, ok := strings.Cut(item, "*"); ok {
		n, err := strconv.ParseUint(times, 10, 31)
		if err != nil || n == 0 {
			return step, fmt.Errorf("%q is not a number of attempts from 1 to %d; ** is for ever", times, math.MaxInt32)
		}
		step.Times, item = int(n), rest
	}
	result, takes, timed := strings.Cut(item, ":")
	if timed {
		var err error
		if step.Takes, err = backoff.ParseDuration(takes); err != nil {
			return step, err
		}
	}
	if result == "run" {
		step.Chance = 0
		if timed {
			return step, errors.New("run takes as long as the command does; leave the duration out")
		}
		return step, nil
	}
	return step, step.pretend(result, number)
}

// pretend reads a RESULT other than run.
func (s *Step) pretend(result string, number func(attempt.Signal) (int, bool)) error {
	if result == "timeout" {
		s.Result = attempt.Result{TimedOut: true, ExitCode: exitcodes.Timeout}
		return nil
	}
	if code, err := strconv.ParseUint(result, 10, 8); err == nil {
		s.Result = attempt.Result{ExitCode: int(code)}
		return nil
	}
	signal, err := attempt.ParseSignal(result)
	if err != nil {
		return fmt.Errorf("%q is not a result; use a code from 0 to 255, a signal such as KILL, timeout, or run",
			result)
	}
	n, known := number(signal)
	if !known {
		return fmt.Errorf("this system has no signal %q", result)
	}
	s.Result = attempt.Result{Signal: signal, ExitCode: exitcodes.OfSignal(n)}
	return nil
}

// At returns the step of attempt n, from 1, and false if the command is run. It calls draw
// for a random number, uniform in [0, 1), only if the step depends on one.
func (s Steps) At(n int, draw func() float64) (Step, bool) {
	for _, step := range s {
		if step.Times > 0 && n > step.Times {
			n -= step.Times
			continue
		}
		return step, step.Chance > 0 && (step.Chance >= 1 || draw() < step.Chance)
	}
	return Step{}, false
}
