package cli

// This file redrives letters. The redriver starts the program itself once for each,
// with the same command line and a variable that names the letter: a working
// directory and a umask belong to a process, and that process holds the letter's
// lock and finishes the letter, also where the redriver was killed.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/letters"
	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/queue"
	"github.com/retrysh/retry/exitcodes"
)

// letterVariable is the letter to run: ID/STAMP/PIPE, the last for its result.
const letterVariable = "_RETRY_LETTER"

// redrive is --redrive, and in the process that it starts the run of one letter.
func redrive(c mode.Call) int {
	r := &letters.Redriving{Call: c}
	l, g, settings, err := option.ReadRedrive(c.Args, c.Environ)
	if err == nil {
		err = mode.Parse(mode.Call{Args: l.Own}, &r.RedriveFlags)
	}
	if err != nil {
		return c.Usage(err)
	}
	r.Dir, r.JSON, r.Quiet = string(g.DeadLetter), g.LogFormat == "json", g.Quiet
	if option.Last(settings, "dead-letter") == nil && !g.NoEnv {
		r.Dir = os.Getenv("RETRY_DEAD_LETTER")
	}
	if target := os.Getenv(letterVariable); target != "" {
		return runLetter(l, target, r.Dir)
	}
	starter := &starter{signals: proc.Listen(), json: r.JSON}
	starter.signals.Notify()
	r.Run, r.Sleep = starter.run, starter.sleep
	code := r.Do()
	if starter.asked != "" {
		proc.Die(starter.asked)
		n, _ := exitcodes.SignalNumber(string(starter.asked))
		code = exitcodes.OfSignal(n)
	}
	return code
}

// starter starts the program itself for each letter.
type starter struct {
	signals *proc.Signals
	json    bool
	asked   attempt.Signal // to end, "" unless a signal has
}

// sleep waits for d, or until a signal asks for the end, and reports whether one has.
func (s *starter) sleep(d time.Duration) (ended bool) {
	if s.asked == "" {
		select {
		case s.asked = <-s.signals.Cancelled():
		case <-time.After(d):
			select { // select takes any of two that are ready
			case s.asked = <-s.signals.Cancelled():
			default:
			}
		}
	}
	return s.asked != ""
}

// run runs a letter in a process, and passes signals on to it.
func (s *starter) run(e *queue.Entry, stdin *os.File) letters.Result {
	p, result, err := s.start(e, stdin)
	if err != nil {
		return letters.Result{Result: letters.Failed, Reason: "no process for its run: " + err.Error()}
	}
	defer func() { _ = result.Close() }()
	var state *os.ProcessState
	ended := make(chan struct{})
	go func() {
		state, _ = p.Wait()
		close(ended)
	}()
	if asked := proc.Accompany(s.signals, p, ended); asked != "" {
		s.asked = asked
	}
	return readResult(result, state)
}

// start starts the process for a letter, and returns the pipe for its result.
func (s *starter) start(e *queue.Entry, stdin *os.File) (*os.Process, *os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	if stdin == nil {
		if stdin, err = os.Open(os.DevNull); err != nil {
			return nil, nil, err
		}
		defer func() { _ = stdin.Close() }()
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = write.Close() }()
	stdout := os.Stdout
	if s.json {
		stdout = os.Stderr
	}
	attr := &os.ProcAttr{Files: []*os.File{stdin, stdout, os.Stderr}}
	number := handDown(attr, write)
	attr.Env = append(os.Environ(), fmt.Sprintf("%s=%s/%s/%d", letterVariable, e.ID, e.Stamp, number))
	p, err := os.StartProcess(self, os.Args, attr)
	if err != nil {
		_ = read.Close()
	}
	return p, read, err
}

// readResult returns what a process has sent, or how it ended without a result.
func readResult(pipe io.Reader, state *os.ProcessState) letters.Result {
	var result letters.Result
	if err := json.NewDecoder(pipe).Decode(&result); err != nil {
		result = letters.Result{Result: letters.Failed, Reason: "its run did not come to an end"}
		if state != nil {
			result.Reason += ": " + state.String()
		}
	}
	return result
}

func runLetter(l *option.Redrive, target, dir string) int {
	_ = os.Unsetenv(letterVariable)
	parts := strings.Split(target, "/")
	number, err := strconv.ParseUint(parts[len(parts)-1], 10, 64)
	if len(parts) != 3 || err != nil {
		return exitcodes.Of(failed(fmt.Errorf("%s is the program's own variable; unset it", letterVariable)))
	}
	r := &redriven{pipe: handedDown(uintptr(number))}
	o, err := r.prepare(l, parts[0], parts[1], dir)
	if err == nil {
		return run(o, r)
	}
	if r.claim != nil {
		r.claim.Release()
	}
	r.result = letters.Result{Result: letters.Failed, Reason: err.Error()}
	if errors.Is(err, queue.ErrClaimed) || errors.Is(err, queue.ErrGone) {
		r.result.Result = letters.Skipped
	}
	r.report()
	return exitcodes.Failure
}

// prepare claims a letter for this process. The letter does not change until all is ready.
func (r *redriven) prepare(l *option.Redrive, id, stamp, dir string) (*option.Options, error) {
	path, err := letters.Path(dir)
	if err != nil {
		return nil, err
	}
	d, err := queue.Open(path, false)
	if err != nil {
		return nil, err
	}
	var e queue.Entry
	r.claim, e, err = d.Claim(id)
	switch {
	case err != nil:
		return nil, err
	case e.Stamp != stamp:
		return nil, fmt.Errorf("%w: another redriver has run it", queue.ErrGone)
	}
	r.before = e.Letter
	var o *option.Options
	if err = e.Problem; err == nil {
		o, err = options(l, e.Letter)
	}
	if err != nil {
		return nil, fmt.Errorf("the letter is left as it is: %w", err)
	}
	o.Letters.Dir = d.Path()
	letter := *e.Letter
	letter.Redrives++
	if err := r.claim.Replace(&letter, nil); err != nil {
		return nil, fmt.Errorf("the letter cannot be written, so it is not run: %w", err)
	}
	r.after = &letter
	mask, _ := strconv.ParseUint(letter.Umask, 8, 16) // it was checked
	setUmask(int(mask))
	return o, nil
}

// options are those of a letter's run. They set its working directory and variables.
func options(l *option.Redrive, letter *queue.Letter) (*option.Options, error) {
	if letter.Stdin.Present {
		if err := letter.Stdin.CheckInput(os.Stdin); err != nil {
			return nil, err
		}
	}
	policy := map[string][]string{}
	for name, values := range letter.Policy {
		policy[name] = queue.Strings(values)
	}
	o, err := l.Options(policy, queue.Strings(letter.Command))
	if err == nil {
		err = os.Chdir(string(letter.Cwd))
	}
	for name, value := range letter.Env {
		if err == nil {
			err = os.Setenv(name, string(value))
		}
	}
	return o, err
}

// report sends the result of the letter to the redriver, which may have ended.
func (r *redriven) report() {
	_ = json.NewEncoder(r.pipe).Encode(r.result)
	_ = r.pipe.Close()
}

// goesOn reports whether the run was parked.
func (r *redriven) goesOn() bool { return r != nil && r.before.Parked() }
