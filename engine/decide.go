package engine

// This file decides what follows an attempt, in the order of docs/deciding.md. All of it
// is pure.

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/retryafter"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// State is where in a run the decision is taken.
type State struct {
	// Attempt is the number of the attempt that has just ended, from 1.
	Attempt int
	Place
	// Deadline is when everything ends; the zero time is none.
	Deadline time.Time
	// Successes counts the successes in a row up to the attempt before, Failures all
	// failed attempts up to it.
	Successes, Failures int
	// Argv is the command, by whose name failures are recognised.
	Argv []string
	// LastLook says that the attempt is the last one, by Policy.LastLook.
	LastLook bool
}

// Place is where in its schedule a run is: the number of the next wait, from 1, and the
// wait before it.
type Place struct {
	Step     int
	Previous time.Duration
}

// First is the state of attempt 1.
func (p *Policy) First() State {
	return State{Attempt: 1, Place: Place{Step: 1, Previous: p.Schedule.Base}}
}

// Decision says what follows an attempt.
type Decision struct {
	// Accepted says that the attempt succeeded, Retry that another one follows after
	// Jittered: also after a success, if more are needed. Otherwise the run ends.
	Accepted, Retry bool
	// Unnamed says that no --on-* rule names the failure.
	Unnamed bool
	// Counts is the outcome of the attempt for the guards.
	Counts guard.Outcome
	// Next is the state for the attempt that follows.
	Next State
	// Ending and End are how the run ends if no attempt follows.
	event.Ending
	End End
}

// End is how the program ends: dying by Signal if that is set and possible,
// with Code otherwise. Code is 128+n if Signal is set.
type End struct {
	Code   int
	Signal attempt.Signal
}

// Decide judges the result of an attempt and returns what follows. The random number u
// is uniform in [0, 1).
func Decide(p *Policy, s State, r attempt.Result, e Evidence, now time.Time, u float64) Decision {
	d := judge(&p.Rules, s.Argv, r, e, now)
	d.Counts = counted(&d, r)
	d.NotStarted = r.StartErr != nil
	d.ReaderGone = r.ReaderGone && r.Cancelled == ""
	if p.Repeat {
		repeat(&d, p, s, &r, now)
		return d
	}
	switch {
	case d.Accepted:
		count(&d, p, s, now)
	case p.UntilFailure && (d.Retry || d.Outcome == event.Stopped):
		d.Retry = false
		d.Found = !d.NotStarted
		d.Outcome = event.Stopped
		d.Advice = ""
	case d.Retry:
		schedule(&d, p, s, r, e, now, u)
	}
	switch {
	case d.Retry:
	case d.Outcome != event.Succeeded:
		d.End = end(r, d.Outcome)
	case s.Failures > 0 && !p.UntilFailure:
		d.End = End{Code: p.FlakyExit}
	}
	return d
}

// count decides what follows a success: the end, or another attempt after exactly base
// if more successes in a row, or a failure, are needed. The schedule of failures stays
// where it is.
func count(d *Decision, p *Policy, s State, now time.Time) {
	s.Successes++
	base := p.Schedule.Base
	last := p.Attempts > 0 && s.Attempt >= p.Attempts
	switch late := s.late(base, now); {
	case p.UntilFailure && (last || late), !p.UntilFailure && s.Successes >= p.Consecutive:
	case last:
		d.Outcome, d.Why = event.Exhausted, fmt.Sprintf("%d of %d successes in a row", s.Successes, p.Consecutive)
		d.advise(p.unusedTime(s.Deadline.Sub(now)))
	case late:
		d.Outcome, d.Why = event.Deadline, passing(base)
	default:
		d.follow(base, s)
	}
}

// follow has another attempt follow after exactly base.
func (d *Decision) follow(base time.Duration, s State) {
	s.Attempt++
	d.Delay = base
	d.Jittered = base
	d.NotYet = d.Accepted
	d.Retry = true
	d.Next = s
}

// late reports whether a wait would end past the deadline.
func (s *State) late(wait time.Duration, now time.Time) bool {
	return !s.Deadline.IsZero() && wait > s.Deadline.Sub(now)
}

// passing is why a wait is not begun.
func passing(wait time.Duration) string {
	return fmt.Sprintf("a wait of %v would pass the deadline", wait.Round(time.Millisecond))
}

// judge judges an attempt, and finds the line of its output behind a failure.
func judge(rules *Rules, argv []string, r attempt.Result, e Evidence, now time.Time) Decision {
	d := firstRow(rules, argv, r, e, now)
	if !d.Accepted {
		d.Line = text.Masked(e.line(&d))
	}
	return d
}

// firstRow applies the rows of docs/deciding.md: the first that applies decides.
func firstRow(rules *Rules, argv []string, r attempt.Result, e Evidence, now time.Time) Decision {
	switch {
	case r.Err != nil:
		return stop(event.Failed, event.Unknown, "", text.Masked(r.Err.Error()))
	// Row 1: the program was asked to end, or its reader has gone.
	case r.Cancelled != "":
		return stop(event.Cancelled, event.Unknown, "", "cancelled by "+string(r.Cancelled))
	case r.ReaderGone:
		return stop(event.Cancelled, event.Unknown, "", "standard output has no reader left")
	// Row 2: no time is left.
	case r.DeadlinePassed:
		return stop(event.Deadline, event.Unknown, "", "the deadline passed")
	case r.SlotLost:
		return stop(event.Refused, event.Unknown, "", lostReason)
	}
	// Row 3: it could not be started.
	onExit := rules.OnExit
	if r.StartErr != nil {
		onExit = onExit.Codes()
	}
	item, retried := onExit.Match(r)
	if r.StartErr != nil && !retried {
		return stop(event.Stopped, event.Permanent, "", describe(r))
	}
	// Row 4: success.
	reason, failed := failure(rules, r, e)
	if !failed {
		d := stop(event.Succeeded, "", "", reason)
		d.Accepted = true
		return d
	}
	// Row 5: a rule says stop.
	if item, ok := rules.StopOnExit.Match(r); ok {
		return stop(event.Stopped, event.Permanent, "--stop-on-exit "+item, reason)
	}
	if e.Stop != "" {
		return stop(event.Stopped, event.Permanent, e.Stop, reason)
	}
	// Row 6: the attempt reached its own limit.
	switch {
	case r.TimedOut && r.Idle:
		return again(event.Transient, "--idle-timeout", reason)
	case r.TimedOut:
		return again(event.Transient, "--timeout", reason)
	}
	// Row 7: a rule says retry.
	if retried {
		return again(event.Transient, "--on-exit "+item, reason)
	}
	if e.Retry != "" {
		return again(event.Transient, e.Retry, reason)
	}
	known := rules.Table().Judge(classify.Failure{
		Argv: argv, Result: r, Stdout: e.Stdout, Stderr: e.Stderr, Order: e.Order,
	})
	known.Reason = text.Masked(known.Reason) // it may quote the output
	if known.Rule == "signal-kill" && r.Signal == "SIGKILL" {
		known.Reason = "" // the end says more
	}
	return judgeByTable(rules, known, reason)
}

// judgeByTable applies the last rows, for a failure that no rule of the user names.
func judgeByTable(rules *Rules, known classify.Judgement, reason string) Decision {
	guess := known.Verdict == event.Permanent && known.CodeOnly
	d := again(known.Verdict, known.Rule, reason)
	if len(known.Matches) > 0 && known.Matches[0].Rule.ID == known.Rule {
		d.Line = known.Matches[0].Line
	}
	d.ByRule = d.ByRule && rules.Mode != Any && !rules.hasRetryRule()
	if known.Reason != "" && known.Rule != "" && !(guess && rules.Mode == Any) {
		d.Known = known.Reason
		d.Reason += ": " + known.Reason
	}
	switch {
	case rules.hasRetryRule(): // Row 8: the user has named what is retried.
		d.Retry, d.Outcome = false, event.Stopped
		d.Unnamed = true
		d.Why = "no --on-* rule names it"
	case rules.Mode == Smart && known.Verdict == event.Permanent,
		rules.Mode == Strict && known.Verdict != event.Transient: // Row 9.
		d.Retry, d.Outcome = false, event.Stopped
		if known.Rule == "" {
			d.Why = "--classify strict retries only what is known to be transient"
		}
	case rules.Mode == Any && guess:
		d.Advice = "--classify smart would not retry this (" + known.Reason + ")"
	}
	return d
}

// failure describes the result of the attempt, and reports whether that is a failure.
func failure(rules *Rules, r attempt.Result, e Evidence) (reason string, failed bool) {
	reason = describe(r)
	named := r.ExitCode == exitcodes.OK && !r.TimedOut
	if len(rules.SuccessOnExit) > 0 {
		_, named = rules.SuccessOnExit.Match(r)
	}
	switch {
	case !named && r.ExitCode == exitcodes.OK:
		return reason + ", which --success-on-exit does not name", true
	case !named:
		return reason, true
	case e.Fail != "":
		return reason + ", but the output matched " + e.Fail, true
	case e.Missing != "":
		return reason + ", but no line matched " + e.Missing, true
	}
	return reason, false
}

// describe returns in words how an attempt ended.
func describe(r attempt.Result) string {
	switch {
	case r.StartErr != nil:
		return text.Masked(r.StartErr.Error()) // it quotes the command's name
	case r.TimedOut && r.Limit > 0 && r.Idle:
		return "timed out after " + message.Limit(r.Limit) + " without output"
	case r.TimedOut && r.Limit > 0:
		return "timed out after " + message.Limit(r.Limit)
	case r.TimedOut:
		return "timed out"
	case r.Signal == "SIGKILL" && r.OOMKills > 0:
		return "killed by KILL; the kernel has killed " + text.Count(r.OOMKills, "process", "processes") +
			" of this control group for want of memory"
	case r.Signal == "SIGKILL":
		return "killed by KILL, by a person or for want of memory"
	case r.Signal != "":
		return "killed by " + string(r.Signal)
	case r.Note != "":
		return r.Note
	}
	return fmt.Sprintf("exit %d", r.ExitCode)
}

func stop(outcome event.Outcome, verdict event.Verdict, rule, reason string) Decision {
	d := again(verdict, rule, reason)
	d.Retry, d.Outcome = false, outcome
	return d
}

func again(verdict event.Verdict, rule, reason string) Decision {
	d := Decision{Retry: true}
	d.Judgement = event.Judgement{Verdict: verdict, Rule: rule, ByRule: rule != "", Reason: reason, Ended: reason}
	return d
}

// DecideRetry is the part of Decide that follows a failure which is retried.
func DecideRetry(p *Policy, s State, now time.Time, u float64) Decision {
	d := Decision{Retry: true}
	schedule(&d, p, s, attempt.Result{}, Evidence{}, now, u)
	return d
}

// schedule sets the wait of a decision to retry, or gives up if no attempt or no time is
// left.
func schedule(d *Decision, p *Policy, s State, r attempt.Result, e Evidence, now time.Time, u float64) {
	if p.Attempts > 0 && s.Attempt >= p.Attempts {
		d.Retry, d.Outcome = false, event.Exhausted
		d.advise(p.unusedTime(s.Deadline.Sub(now)))
		return
	}
	if p.ResetAfter > 0 && r.Duration >= p.ResetAfter {
		s.Place = p.First().Place
	}
	d.Delay = p.Schedule.Plain(s.Step, s.Previous)
	drawn := p.Schedule.Wait(s.Step, s.Previous, u)
	d.Jittered = drawn
	d.Next = State{
		Attempt: s.Attempt + 1, Failures: s.Failures + 1, Place: Place{s.Step + 1, drawn},
		Deadline: s.Deadline, Argv: s.Argv,
	}
	d.Hint, d.HasHint, d.IgnoredHint = FindHint(&p.Rules.Hints, e, now)
	if d.HasHint {
		// Full jitter over one plain delay is added, so that clients that were given
		// the same moment do not return together.
		// The wait is never less than it would be without the hint.
		d.Jittered = max(backoff.Add(d.Hint, backoff.FromFloat(u*float64(d.Delay))), drawn)
	}
	switch {
	case d.HasHint && d.Hint > p.MaxHint:
		why := fmt.Sprintf("the server asks for a wait of %v, longer than --max-hint %v", d.Hint, p.MaxHint)
		giveUp(d, event.Stopped, why)
	case s.LastLook:
		giveUp(d, event.Deadline, "this was the last look before the deadline")
	case p.LastLook > 0 && s.late(backoff.Add(d.Jittered, 1), now):
		// One that ends with the deadline leaves no time for a try.
		d.Jittered = max(s.Deadline.Sub(now)-p.LastLook, 0)
		d.Next.LastLook = true
	case s.late(d.Jittered, now):
		giveUp(d, event.Deadline, passing(d.Jittered))
	}
}

// unusedTime says that the default attempts left most of the deadline unused, "" if that is
// not so.
func (p *Policy) unusedTime(left time.Duration) string {
	if !p.ByDefault || p.Deadline <= 0 || left <= p.Deadline/2 {
		return ""
	}
	return fmt.Sprintf("the default of %d attempts left %s of --deadline %s unused; -n 0 has no limit of attempts",
		p.Attempts, message.Duration(left), message.Limit(p.Deadline))
}

// advise adds a line for a person, "" for none.
func (d *Decision) advise(advice string) {
	switch {
	case advice == "":
	case d.Advice == "":
		d.Advice = advice
	default:
		d.Advice += "; " + advice
	}
}

func giveUp(d *Decision, outcome event.Outcome, why string) {
	d.Retry, d.Outcome = false, outcome
	d.Why = why
	d.Advice = ""
}

// FindHint looks for a wait that the server asked for, in standard error before standard
// output. ignored says which hint was implausible.
func FindHint(h *Hints, e Evidence, now time.Time) (wait time.Duration, ok bool, ignored string) {
	if !h.Use {
		return 0, false, ""
	}
	for _, stream := range []struct{ head, tail []byte }{{e.StderrHead, e.Stderr}, {e.StdoutHead, e.Stdout}} {
		output := stream.tail
		if stream.head != nil {
			output = slices.Concat(stream.head, []byte("\n"), output)
		}
		wait, ok, unbelieved := retryafter.Find(h.Pattern, output, now)
		if ok {
			return wait, true, ""
		}
		ignored = cmp.Or(ignored, unbelieved)
	}
	return 0, false, ignored
}

// endBy is the end by a signal, with the shells' code for it.
func endBy(signal attempt.Signal) End {
	number, _ := exitcodes.SignalNumber(string(signal))
	return End{Code: exitcodes.OfSignal(number), Signal: signal}
}

// end is how the program ends when it gives up on r.
func end(r attempt.Result, outcome event.Outcome) End {
	own := End{Code: r.ExitCode}
	if r.Signal != "" && !r.TimedOut && !r.DeadlinePassed {
		own.Signal = r.Signal
	}
	switch {
	case outcome == event.Failed:
		return End{Code: exitcodes.Failure}
	case outcome == event.Refused && r.SlotLost:
		return End{Code: exitcodes.Refused}
	case r.ReaderGone:
		return endBy("SIGPIPE")
	case outcome == event.Cancelled && r.ExitCode != exitcodes.OK &&
		(r.Cancelled == "SIGINT" || r.Cancelled == "SIGQUIT"):
		// The shells' wait-and-cooperate rule: a command that catches INT and exits 0
		// has handled it, any other was ended by it.
		return endBy(r.Cancelled)
	case outcome == event.Cancelled:
		return own
	case r.ExitCode == exitcodes.OK:
		return End{Code: exitcodes.Rejected}
	}
	return own
}
