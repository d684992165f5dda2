package letters

// This file is --redrive: one run after the other, each in a process of its own,
// since a working directory and a umask belong to a process.

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/queue"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// The results of a redriven letter.
const (
	Done      = "done"
	Failed    = "failed"
	Parked    = "parked"
	Refused   = "refused"
	Cancelled = "cancelled"
	Skipped   = "skipped"
	dryRun    = "dry_run"
)

// Result is the result of one letter.
type Result struct {
	ID       string       `json:"id"`
	Result   string       `json:"result"`
	ExitCode *int         `json:"exit_code"` // nil if nothing ran
	Reason   string       `json:"reason"`
	Command  []queue.Text `json:"command"` // masked
}

// Redrive is --redrive.
type Redrive struct {
	Flags
	RedriveMax option.Limit `variable:"no"`
	Rate       queue.Rate   `variable:"no"`
	DryRun     bool         `variable:"no"`

	Redriver func() int `kong:"-"` // does it, by RunLetters; returns the exit code

	results []Result
	count   map[string]int
}

// NewRedrive returns --redrive with its defaults.
func NewRedrive() *Redrive {
	return &Redrive{Flags: Flags{Common: mode.Defaults()}, RedriveMax: mostRedrives}
}

func (r *Redrive) Run() int { return r.Redriver() }

// RunLetters runs letters. run runs one in a process and waits for it; the id and the
// command of its result are set here. sleep waits for d, and reports whether a signal has
// asked for the end.
func (r *Redrive) RunLetters(run func(e *queue.Entry, stdin *os.File) Result,
	sleep func(d time.Duration) (ended bool)) int {
	all, err := r.list()
	if err != nil {
		return r.Fail(err)
	}
	r.results = []Result{}
	r.count = map[string]int{}
	chosen, without, err := queue.Redrivable(all, r.Words, time.Now(), int(r.RedriveMax))
	if err != nil {
		return r.refuse(err)
	}
	r.unmatched(without)
	if len(r.Words) == 0 || slices.Contains(r.Words, queue.DueWord) {
		for _, e := range all {
			if !e.Usable() && !slices.Contains(chosen, e) {
				r.Warn("letter " + e.ID + " is left as it is: " + e.Problem.Error())
			}
		}
	}
	named := func(word string) bool {
		return word != queue.DueWord && word != queue.FailedWord && word != queue.AllWord
	}
	if len(chosen) == 0 && len(without) == 0 && slices.ContainsFunc(r.Words, named) && !r.Quiet && !r.JSON() {
		r.Warn("nothing to run: the letters of that name are parked and not due, or poison; --letters shows " +
			"them, and an id runs its letter now")
	}
	var next time.Time // before which --rate starts no run
	for _, e := range chosen {
		if sleep(time.Until(next)) {
			break
		}
		begun := time.Now()
		if r.one(e, run) {
			next = begun.Add(time.Duration(r.Rate))
		}
	}
	code := exitcodes.OK
	switch {
	case len(without) > 0 || r.count[Failed] > 0:
		code = exitcodes.Rejected
	case r.count[Parked]+r.count[Refused] > 0:
		code = exitcodes.Refused
	}
	r.sum()
	if !r.JSON() {
		return code
	}
	return r.PrintJSON(code, map[string]any{
		"redriven": r.results, Done: r.count[Done], Failed: r.count[Failed], Parked: r.count[Parked],
		Skipped: r.count[Skipped],
	})
}

// one redrives a letter, and reports whether it was started.
func (r *Redrive) one(e *queue.Entry, run func(e *queue.Entry, stdin *os.File) Result) (started bool) {
	result := Result{Result: Skipped}
	stdin, err := r.d.Input(e)
	defer func() { _ = stdin.Close() }()
	switch now := r.d.Read(e.ID); {
	case now.Problem == queue.ErrGone, now.Usable() && now.Stamp != e.Stamp:
		result.Reason = "another redriver has run it, or it was discarded"
	case !now.Usable():
		result.Result, result.Reason = Failed, "the letter is left as it is: "+now.Problem.Error()
	case err != nil:
		result.Result, result.Reason = Failed, "its input: "+err.Error()
	case r.DryRun:
		result.Result = dryRun
	default:
		started = true
		result = run(e, stdin)
	}
	result.ID = e.ID
	result.Command = []queue.Text{}
	if e.Letter != nil {
		result.Command = queue.Texts(masked(e))
	}
	result.Reason = text.Masked(result.Reason)
	r.results = append(r.results, result)
	r.count[result.Result]++
	r.print(&result)
	return started
}

// print prints the result of a letter.
func (r *Redrive) print(result *Result) {
	w, line := r.Call.Stderr, fmt.Sprintf("letter %s %s", result.ID, result.Result)
	switch {
	case result.Result == dryRun && r.JSON(), r.Quiet && result.ExitCode != nil, r.Quiet && result.Result == Skipped:
		return
	case result.Result == dryRun:
		w, line = r.Call.Stdout, fmt.Sprintf("letter %s would be run", result.ID)
	case result.Reason != "":
		line += ": " + result.Reason
	}
	if len(result.Command) > 0 { // a letter that cannot be read has none
		line += ": " + mode.Cut(strings.Join(queue.Strings(result.Command), " "), longestCommand)
	}
	fmt.Fprintf(w, "retry: %s\n", message.Printable(line))
}

// longestCommand is how much of a command a line has, in characters.
const longestCommand = 100

func (r *Redrive) sum() {
	if len(r.results) == 0 || r.Quiet || r.DryRun {
		return
	}
	var parts []string
	for _, result := range []string{Done, Failed, Parked, Refused, Cancelled, Skipped} {
		if n := r.count[result]; n > 0 {
			parts = append(parts, fmt.Sprint(n, " ", result))
		}
	}
	fmt.Fprintf(r.Call.Stderr, "retry: redriven: %s\n", strings.Join(parts, ", "))
}
