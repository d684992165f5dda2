package cli

// This file keeps a run as a letter (docs/letters.md).

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/retrysh/retry/cli/letters"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/engine/queue"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// keeper keeps one run, as engine.Config.Keep.
type keeper struct {
	o      *option.Options
	out    *output
	config *engine.Config
	letter *redriven // what is run again, nil for a new run
	runner *proc.Runner

	dir, cwd string
	cwdErr   error

	where string // the line that says where the letter is
}

// keepsLetters reports whether the run may become a letter.
func keepsLetters(o *option.Options) bool {
	return o.DeadLetter != "off" && !o.Exec && len(o.Command) > 0
}

// captureTails captures each output for a letter, unless it is a terminal.
func captureTails(o *option.Options) {
	if keepsLetters(o) {
		r := &o.Policy.Rules
		r.ReadStdout = r.ReadStdout || !term.IsTerminal(int(os.Stdout.Fd()))
		r.ReadStderr = r.ReadStderr || !term.IsTerminal(int(os.Stderr.Fd()))
	}
}

// keepLetters sets up what keeps the run as a letter, or runs a letter again. A
// relative directory is resolved now.
func (w *wiring) keepLetters() {
	k := &keeper{o: w.o, out: w.out, config: w.e, letter: w.letter, runner: w.runner}
	switch {
	case w.letter != nil:
		k.resume(time.Now())
	case keepsLetters(w.o):
		var err error
		if k.dir, err = letters.Path(string(w.o.DeadLetter)); err != nil {
			w.out.warn("no letter will be kept: " + err.Error())
			return
		}
		k.cwd, k.cwdErr = os.Getwd()
	default:
		return
	}
	if w.o.Park > 0 {
		w.e.ParksOnTerm = func() bool { return !w.record.IsCancelled() }
	}
	w.e.Keep = k.save
	w.out.sinks = append(w.out.sinks, k.emit)
}

// emit prints at the end of the run where the new letter is.
func (k *keeper) emit(ev event.Event) {
	end, ended := ev.(*event.RunFinished)
	if !ended {
		return
	}
	if k.where != "" {
		k.out.info(k.where)
	}
	if k.letter != nil {
		k.finish(end)
	}
}

// failures are when the run failed first and last; one in which nothing ran failed now.
func (k *keeper) failures() (first, last time.Time) {
	now := time.Now()
	first, last = k.out.run.FirstFailed, k.out.run.LastFailed
	if k.letter != nil {
		first = k.letter.before.FirstFailedAt.Time
	}
	if first.IsZero() {
		first = now
	}
	switch {
	case !last.IsZero():
	case k.letter != nil && k.out.run.End == nil:
		last = k.letter.before.LastFailedAt.Time
	default:
		last = now
	}
	return first, last
}

// save parks the run if its wait is long enough or TERM has asked for that, or keeps one
// that was given up.
func (k *keeper) save(ctx context.Context, l *engine.Letter) string {
	parks := l.Decision.Outcome == event.Parked
	limit := k.o.Park
	if parks && !l.ByTerm && (limit == 0 || l.Decision.Jittered <= limit) {
		return ""
	}
	if l.ByTerm {
		defer proc.Busy()()
	}
	write := k.add
	if k.letter != nil {
		write = k.replace
	}
	id := write(ctx, l)
	switch {
	case id != "" || !parks:
	case l.ByTerm:
		k.out.warn("the run is not parked, and is cancelled")
	default:
		k.out.warn("the run is not parked and waits here")
	}
	return id
}

// add writes a new letter, and prints what fails.
func (k *keeper) add(ctx context.Context, l *engine.Letter) string {
	letter := k.newLetter(l)
	content := queue.Content{Tails: queue.Tails{l.Evidence.Stdout, l.Evidence.Stderr}}
	parks := l.Decision.Outcome == event.Parked
	var err error
	switch {
	case k.o.Process.Stdin == stdio.Replay:
		if content.Stdin, err = k.input(ctx, l); err != nil {
			k.out.warn("standard input is not kept: " + err.Error())
			if parks { // it would run with an empty one
				return ""
			}
		}
	case k.o.Process.Stdin == stdio.Inherit && proc.InputUsedUp():
		k.out.warn("standard input was used up and is not kept; --stdin replay keeps it")
	}
	var d *queue.Dir
	if err = k.cwdErr; err == nil {
		d, err = queue.Open(k.dir, true)
	}
	if !parks { // a signal that comes now does not take away what was given up
		ctx = context.WithoutCancel(ctx)
	}
	id := ""
	if err == nil {
		id, err = d.Add(ctx, letter, content, k.o.IdempotencyKey != "" && !parks, int(k.o.DeadLetterMax))
	}
	switch {
	case id == "":
		k.out.warn("no letter is kept: " + err.Error())
		return ""
	case err != nil: // it is there
		k.out.warn(err.Error())
	}
	k.where = fmt.Sprintf("kept as letter %s in %s; retry --redrive %s%s runs it again", id, k.dir, k.directory(), id)
	return id
}

// directory is the flag of --redrive that finds the letters, "" for those at the usual place.
func (k *keeper) directory() string {
	if usual, err := letters.Path("on"); err == nil && usual == k.dir {
		return ""
	}
	return "--dead-letter " + text.ShellWord(k.dir) + " "
}

// input is the whole standard input, once it has ended.
func (k *keeper) input(ctx context.Context, l *engine.Letter) (io.Reader, error) {
	wait := inputWait
	if l.ByTerm {
		wait = inputWaitByTerm
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return k.runner.Input(ctx)
}

// inputWait is how long the rest of an input is read, and inputWaitByTerm the same if the
// system waits for the end of the program.
const (
	inputWait       = 10 * time.Second
	inputWaitByTerm = 200 * time.Millisecond
)

func (k *keeper) newLetter(l *engine.Letter) *queue.Letter {
	first, _ := k.failures()
	id := &k.config.Identity
	host, _ := os.Hostname()
	mask := proc.Umask(0o077) // the only way to read it
	proc.Umask(mask)
	letter := &queue.Letter{
		Version: queue.Version, ID: queue.NewID(first, id.RunID), IdempotencyKey: queue.Text(id.Key),
		Name:    queue.Text(cmp.Or(k.config.About.Name, engine.NameOf(k.o.Command))),
		Command: queue.Texts(k.o.Command), Cwd: queue.Text(k.cwd), Umask: fmt.Sprintf("%04o", mask),
		Policy:        map[string][]queue.Text{},
		FirstFailedAt: text.Time{Time: first}, Count: 1, Host: queue.Text(host), User: queue.Text(userName()),
	}
	for name, values := range option.Kept(k.o.Settings) {
		letter.Policy[name] = queue.Texts(values)
	}
	letter.Env, letter.EnvNames = keptVariables(id.Environ, slices.Concat(k.o.DeadLetterEnv...))
	k.describe(letter, l)
	return letter
}

// describe gives a letter the details of the last run.
func (k *keeper) describe(letter *queue.Letter, l *engine.Letter) {
	d, r := l.Decision, &l.Result
	letter.RunID = k.config.Identity.RunID
	letter.TraceID = k.config.Identity.Trace.ID
	letter.Outcome = string(d.Outcome)
	letter.ExitCode = d.End.Code
	letter.TimedOut = r.TimedOut || r.DeadlinePassed
	if l.Attempts > 0 && d.End.Code == exitcodes.Refused { // the run's own code: parked, or its slot was lost
		letter.ExitCode = r.ExitCode
	}
	letter.Verdict = string(d.Verdict)
	letter.Reason = queue.Text(d.Reason)
	if d.Why != "" && d.Outcome != event.Parked {
		letter.Reason += queue.Text("; " + d.Why)
	}
	letter.Rule = given(queue.Text(d.Rule))
	letter.Signal = given(string(r.Signal))
	letter.Attempts = l.Attempts
	letter.MaxAttempts = k.o.Policy.Attempts
	_, last := k.failures()
	letter.LastFailedAt = text.Time{Time: last}
	letter.Rehearsed = k.out.run.Rehearsed
	letter.DeadlineAt = nil
	if !l.Deadline.IsZero() {
		letter.DeadlineAt = &text.Time{Time: l.Deadline}
	}
	letter.DueAt, letter.Schedule = nil, nil
	if d.Outcome == event.Parked {
		letter.DueAt = &text.Time{Time: d.DueAt}
		letter.Schedule = &queue.Schedule{
			Step: l.Place.Step, PreviousMs: l.Place.Previous.Milliseconds(), WaitMs: d.Jittered.Milliseconds(),
			Rotation: l.Rotation,
		}
	}
}

// given is a value in JSON, nil if there is none.
func given[T ~string](value T) *T {
	if value == "" {
		return nil
	}
	return &value
}

// keptVariables are the variables whose values a letter keeps, and the names of the
// others, which may be secrets. What the program sets for a command is in neither.
func keptVariables(environ, more []string) (env map[string]queue.Text, names []queue.Text) {
	keep := append([]string{"PATH", "LANG", "LC_*", "TZ"}, more...)
	env, names = map[string]queue.Text{}, []queue.Text{}
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		matches := func(pattern string) bool {
			is, _ := path.Match(pattern, name)
			return is
		}
		switch {
		case !ok || name == "" || engine.SetsVariable(name): // Windows has some that begin with "="
		case slices.ContainsFunc(keep, matches):
			env[name] = queue.Text(value)
		default:
			names = append(names, queue.Text(name))
		}
	}
	slices.Sort(names)
	return env, slices.Compact(names)
}

func userName() string {
	u, err := user.Current()
	if err != nil {
		return strconv.Itoa(os.Getuid())
	}
	return u.Username
}

// redriven is a letter that this process runs, for a redriver that started it.
type redriven struct {
	claim  *queue.Claim
	before *queue.Letter // as it was
	after  *queue.Letter // with one redrive more
	kept   bool
	result letters.Result
	pipe   *os.File // the redriver reads the result from it
}

// replace writes the last failure, or the wait, to the run's letter. The letter of a run
// that was refused stays as it was.
func (k *keeper) replace(_ context.Context, l *engine.Letter) string {
	r := k.letter
	if l.Decision.Outcome == event.Refused {
		return r.before.ID
	}
	changed := *r.after
	if l.Decision.Outcome == event.Parked {
		changed.Redrives = 0
	}
	k.describe(&changed, l)
	if err := r.claim.Replace(&changed, &queue.Tails{l.Evidence.Stdout, l.Evidence.Stderr}); err != nil {
		k.out.warn(err.Error())
		if !errors.Is(err, queue.ErrUnsynced) {
			return ""
		}
	}
	r.after = &changed
	r.kept = true
	return changed.ID
}

// finish records how the run of a letter ends, and removes or restores the letter.
func (k *keeper) finish(end *event.RunFinished) {
	r := k.letter
	r.result = letters.Result{Result: letters.Failed, ExitCode: &end.ExitCode, Reason: end.Whole()}
	var err error
	switch fallback := end.FallbackExitCode; {
	case end.Outcome == event.Succeeded, fallback != nil && *fallback == 0:
		r.result.Result, r.result.Reason = letters.Done, ""
		err = r.claim.Remove()
	case end.Outcome == event.Parked:
		r.result.Result, r.result.Reason = letters.Parked, "until "+end.DueAt.Format(time.DateTime)
	case end.Outcome == event.Cancelled, end.Outcome == event.Refused, end.Outcome == event.Failed:
		if end.Outcome != event.Failed {
			r.result.Result = string(end.Outcome)
		}
		err = r.claim.Replace(r.before, nil)
	default:
		if !r.kept { // nothing was started
			d := &engine.Decision{Ending: end.Ending, End: engine.End{Code: end.ExitCode}}
			k.replace(context.Background(), &engine.Letter{
				Decision: d, Attempts: end.Attempts, Evidence: &engine.Evidence{},
			})
		}
		missing := slices.DeleteFunc(queue.Strings(r.before.EnvNames), func(name string) bool {
			return slices.ContainsFunc(k.config.Identity.Environ, func(entry string) bool {
				return strings.HasPrefix(entry, name+"=")
			})
		})
		if len(missing) > 0 {
			k.out.warn("not set now, and set when the run first failed: " + strings.Join(missing, " "))
		}
	}
	if err != nil {
		k.out.warn(err.Error())
	}
}

// resume makes the engine continue a parked run, or run again what was given up.
func (k *keeper) resume(now time.Time) {
	e, l := k.config, k.letter.before
	e.Identity.Key = string(l.IdempotencyKey)
	e.About.Name = string(l.Name)
	e.About.Letter = l.ID
	e.Inherit = []uintptr{k.letter.claim.Descriptor()}
	e.Policy.InitialDelay, e.Policy.Splay = 0, 0
	if !l.Parked() {
		e.Identity.ParentRunID = l.RunID
		return
	}
	e.Identity.RunID, k.out.id = l.RunID, l.RunID
	if l.TraceID != "" {
		e.Identity.Trace = engine.ContinueTrace("00-"+l.TraceID+"-"+e.Identity.Trace.Span+"-01", e.Identity.Random)
		e.Identity.Trace.Parent = ""
	}
	wait := time.Duration(l.Schedule.WaitMs) * time.Millisecond
	last := event.Judgement{Reason: string(l.Reason), Ended: string(l.Reason), Verdict: event.Verdict(l.Verdict)}
	e.Resume = &engine.Letter{
		Attempts: l.Attempts, Decision: &engine.Decision{},
		Result:   attempt.Result{ExitCode: l.ExitCode, TimedOut: l.TimedOut, Rehearsed: l.Rehearsed},
		Rotation: l.Schedule.Rotation,
		Place: engine.Place{
			Step: l.Schedule.Step, Previous: time.Duration(l.Schedule.PreviousMs) * time.Millisecond,
		},
		Waited: min(wait, max(0, now.Sub(l.DueAt.Add(-wait)))),
	}
	if l.Rule != nil {
		last.Rule, last.ByRule = string(*l.Rule), true
	}
	if l.Signal != nil {
		e.Resume.Result.Signal = attempt.Signal(*l.Signal)
	}
	e.Resume.Decision.Judgement = last
	limit := option.Last(k.o.Settings, "deadline")
	if end := l.DeadlineAt; end != nil && (limit == nil || limit.Source != option.FromCommandLine) {
		e.Policy.Deadline = 0
		if until := now.Add(end.Sub(now)); e.Expires.IsZero() || until.Before(e.Expires) {
			e.Expires = until
		}
	}
}
