package cli

// This file redrives letters. The redriver starts the program itself once for each,
// with the same command line and a variable that names the letter: a working
// directory and a umask belong to a process, and that process holds the letter's
// lock and finishes the letter, even if the redriver was killed.

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
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/queue"
	"github.com/retrysh/retry/exitcodes"
)

// letterVariable is the letter to run: ID/STAMP/PIPE, the last for its result.
const letterVariable = "_RETRY_LETTER"

// redriver does --redrive, and in the process that it starts the run of one letter.
type redriver struct {
	mode    *letters.Redrive
	signals *proc.Signals
	asked   attempt.Signal // to end, "" unless a signal has
}

// run runs letters, or in a process that it has started one letter.
func (r *redriver) run() int {
	if target := os.Getenv(letterVariable); target != "" {
		return r.letter(target)
	}
	code := r.mode.RunLetters(r.redrive, r.sleep)
	if r.asked != "" {
		if err := r.mode.Flush(); err != nil {
			r.mode.Fail(err)
		}
		proc.Die(r.asked)
		n, _ := exitcodes.SignalNumber(string(r.asked))
		code = exitcodes.OfSignal(n)
	}
	return code
}

// sleep waits for d, or until a signal asks for the end, and reports whether one has.
func (r *redriver) sleep(d time.Duration) (ended bool) {
	if r.asked == "" {
		select {
		case r.asked = <-r.signals.Cancelled():
		case <-time.After(d):
			select { // select takes any of two that are ready
			case r.asked = <-r.signals.Cancelled():
			default:
			}
		}
	}
	return r.asked != ""
}

// redrive runs a letter in a process, and passes signals on to it.
func (r *redriver) redrive(e *queue.Entry, stdin *os.File) letters.Result {
	p, result, err := r.start(e, stdin)
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
	if asked := proc.Accompany(r.signals, p, ended); asked != "" {
		r.asked = asked
	}
	found, complete := readResult(result, state)
	if !complete && r.asked != "" { // it came before the run could take it as its own
		found = letters.Result{Result: letters.Cancelled, Reason: "cancelled by " + string(r.asked)}
	}
	return found
}

// start starts the process for a letter, and returns the pipe for its result.
func (r *redriver) start(e *queue.Entry, stdin *os.File) (*os.Process, *os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = write.Close() }()
	stdout := os.Stdout
	if r.mode.JSON() {
		stdout = os.Stderr
	}
	attr := &os.ProcAttr{Files: []*os.File{stdin, stdout, os.Stderr}}
	number := proc.HandDown(attr, write)
	attr.Env = append(os.Environ(), fmt.Sprintf("%s=%s/%s/%d", letterVariable, e.ID, e.Stamp, number))
	p, err := os.StartProcess(self, os.Args, attr)
	if err != nil {
		_ = read.Close()
	}
	return p, read, err
}

// readResult returns what a process has sent; if that is not complete, how it ended.
func readResult(pipe io.Reader, state *os.ProcessState) (result letters.Result, complete bool) {
	err := json.NewDecoder(pipe).Decode(&result)
	if err == nil {
		return result, true
	}
	result = letters.Result{Result: letters.Failed, Reason: "its run did not come to an end"}
	if state != nil {
		result.Reason += ": " + state.String()
	}
	return result, false
}

// letter runs the letter that a redriver has started this process for.
func (r *redriver) letter(target string) int {
	_ = os.Unsetenv(letterVariable)
	parts := strings.Split(target, "/")
	number, err := strconv.ParseUint(parts[len(parts)-1], 10, 64)
	if len(parts) != 3 || err != nil {
		return exitcodes.Of(failed(fmt.Errorf("%s is the program's own variable; unset it", letterVariable)))
	}
	l := &redriven{pipe: proc.HandedDown(uintptr(number))}
	o, err := l.prepare(r.mode, parts[0], parts[1])
	if err == nil {
		return run(o, l, r.signals)
	}
	if l.claim != nil {
		l.claim.Release()
	}
	l.result = letters.Result{Result: letters.Failed, Reason: err.Error()}
	if errors.Is(err, queue.ErrClaimed) || errors.Is(err, queue.ErrGone) {
		l.result.Result = letters.Skipped
	}
	l.report()
	return exitcodes.Failure
}

// prepare claims a letter for this process. The letter does not change until all is ready.
func (r *redriven) prepare(by *letters.Redrive, id, stamp string) (*option.Options, error) {
	path, err := letters.Path(string(by.DeadLetter))
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
	case e.Usable() && e.Stamp != stamp:
		return nil, fmt.Errorf("%w: another redriver has run it", queue.ErrGone)
	}
	r.before = e.Letter
	var o *option.Options
	if err = e.Problem; err == nil {
		o, err = options(by, e.Letter)
	}
	if err != nil {
		return nil, fmt.Errorf("the letter is left as it is: %w", err)
	}
	o.DeadLetter = option.Place(d.Path())
	letter := *e.Letter
	letter.Redrives++
	if err := r.claim.Replace(&letter, nil); err != nil {
		return nil, fmt.Errorf("it is not run: %w", err)
	}
	r.after = &letter
	mask, _ := strconv.ParseUint(letter.Umask, 8, 16) // it was checked
	proc.Umask(int(mask))
	return o, nil
}

// options are those of a letter's run. They set its working directory and variables.
func options(by *letters.Redrive, letter *queue.Letter) (*option.Options, error) {
	if letter.Stdin.Present {
		if err := letter.Stdin.CheckInput(os.Stdin); err != nil {
			return nil, err
		}
	}
	policy := map[string][]string{}
	for name, values := range letter.Policy {
		policy[name] = queue.Strings(values)
	}
	if by.NoEnv {
		by.Call.Environ = nil
	}
	o, err := option.Redriven(by.Call.Given, by.Call.Environ, policy, queue.Strings(letter.Command))
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
