// Package letters is the modes that show, run again and remove dead letters
// (docs/letters.md): --letters, --redrive and --discard.
//
// It selects letters, prints them, and removes those of --discard. The caller starts
// the run of a letter, which is a process of its own.
package letters

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/queue"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/engine/xdg"
	"github.com/retrysh/retry/exitcodes"
)

// Flags are those of every mode for letters.
type Flags struct {
	mode.Common
	DeadLetter option.Place

	d    *queue.Dir // nil if it does not exist
	path string
}

// Path is the directory that a value of --dead-letter stands for, taken against
// the working directory.
func Path(value string) (string, error) {
	if value != "" && value != "on" && value != "off" {
		return filepath.Abs(value)
	}
	path, err := xdg.State("letters")
	if err != nil {
		return "", fmt.Errorf("there is no home directory for letters: %w; --dead-letter DIR names another one", err)
	}
	return path, nil
}

// list opens the directory and lists its letters.
func (g *Flags) list() (all []*queue.Entry, err error) {
	if g.path, err = Path(string(g.DeadLetter)); err != nil {
		return nil, err
	}
	if g.d, err = queue.Open(g.path, false); err == nil {
		all, err = g.d.List()
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

// unmatched reports the words that name no letter, and returns the exit code.
func (g *Flags) unmatched(words []string) (code int) {
	for _, word := range words {
		g.Warn(fmt.Sprintf("no letter is %q or has a name that matches it", message.Printable(word)))
		code = exitcodes.Rejected
	}
	return code
}

// refuse reports why nothing is done.
func (g *Flags) refuse(err error) int {
	g.Fail(err)
	return exitcodes.Rejected
}

// List is --letters.
type List struct {
	Flags
	RedriveMax option.Limit `variable:"no"`

	now    time.Time
	detail bool // all of the one letter is shown
}

// NewList returns --letters with its defaults.
func NewList() *List { return &List{Flags: Flags{Common: mode.Defaults()}, RedriveMax: mostRedrives} }

// mostRedrives is how often a letter is redriven that is not named by its id.
const mostRedrives = 5

// Run shows letters.
func (g *List) Run() int {
	chosen, err := g.list()
	if err != nil {
		return g.Fail(err)
	}
	code := exitcodes.OK
	g.now = time.Now()
	if len(g.Words) > 0 {
		var without []string
		chosen, without, err = queue.Select(chosen, g.Words, nil, nil)
		code = g.unmatched(without)
		if err != nil {
			return g.refuse(err)
		}
		g.detail = len(g.Words) == 1 && len(chosen) == 1 && chosen[0].ByID
	}
	slices.SortStableFunc(chosen, queue.Older)
	if len(chosen) == 0 {
		code = exitcodes.Rejected
	}
	switch {
	case g.JSON():
		return g.json(code, chosen)
	case g.detail:
		g.letter(chosen[0])
	case len(chosen) > 0:
		g.Print(mode.Table(g.Width(), g.rows(chosen)))
	case len(g.Words) == 0 && !g.Quiet:
		fmt.Fprintln(g.Call.Stderr, "retry: no letters")
	}
	return code
}

// Discard is --discard.
type Discard struct {
	Flags
	OlderThan time.Duration `variable:"no"` // since the last failure
}

// NewDiscard returns --discard with its defaults.
func NewDiscard() *Discard { return &Discard{Flags: Flags{Common: mode.Defaults()}} }

// Run removes letters.
func (g *Discard) Run() int {
	if len(g.Words) == 0 {
		return g.Usage(errors.New("needs a word: a letter's id, a name, a glob on names, or all"))
	}
	all, err := g.list()
	if err != nil {
		return g.Fail(err)
	}
	chosen, without, err := queue.Select(all, g.Words, []string{queue.AllWord}, nil)
	code := g.unmatched(without)
	if err != nil {
		return g.refuse(err)
	}
	discarded := []string{}
	for _, e := range chosen {
		if time.Since(e.Last()) < g.OlderThan {
			continue
		}
		switch err := discard(g.d, e); {
		case errors.Is(err, queue.ErrUnsynced):
			g.Warn(err.Error())
		case err != nil:
			g.Warn(err.Error())
			code = exitcodes.Rejected
			continue
		}
		discarded = append(discarded, e.ID)
	}
	switch {
	case g.JSON():
		return g.PrintJSON(code, map[string]any{"discarded": discarded})
	case !g.Quiet && len(discarded) > 0:
		g.Print("discarded " + strings.Join(discarded, " ") + "\n")
	}
	return code
}

// discard removes a letter. One that cannot be read has to be named by its id, and
// one that another user may have written is not removed.
func discard(d *queue.Dir, e *queue.Entry) error {
	left := func(err error) error { return fmt.Errorf("letter %s is left: %w", e.ID, err) }
	if e.Foreign || !e.Usable() && !e.ByID {
		return left(e.Problem)
	}
	claim, now, err := d.Claim(e.ID)
	if err != nil {
		return left(err)
	}
	defer claim.Release()
	if now.Foreign {
		return left(now.Problem)
	}
	return claim.Remove()
}

func (g *List) json(code int, chosen []*queue.Entry) int {
	shown := []any{}
	problems := map[string]string{}
	for _, e := range chosen {
		if !e.Usable() {
			problems[e.ID] = e.Problem.Error()
			continue
		}
		fields := map[string]any{}
		data, err := e.Letter.Encode()
		if err == nil {
			err = json.Unmarshal(data, &fields)
		}
		if err != nil {
			return g.Fail(err)
		}
		delete(fields, "policy")
		fields["command"], fields["reason"] = queue.Texts(masked(e)), queue.Text(text.Masked(string(e.Letter.Reason)))
		fields["env"] = slices.Sorted(maps.Keys(e.Letter.Env))
		fields["status"], fields["claimed"] = e.Letter.Status(int(g.RedriveMax)), e.Claimed
		if g.detail {
			tails := g.d.Tails(e)
			fields["stdout_tail"], fields["stderr_tail"] = queue.Text(tails[0]), queue.Text(tails[1])
		}
		shown = append(shown, fields)
	}
	return g.PrintJSON(code, map[string]any{"letters": shown, "dir": g.path, "problems": problems})
}

// masked is the command as it is shown.
func masked(e *queue.Entry) []string { return text.MaskedArgs(queue.Strings(e.Letter.Command)) }

func (g *List) rows(chosen []*queue.Entry) [][]string {
	rows := [][]string{{"ID", "STATUS", "AGE", "DUE", "COUNT", "REDRIVES", "COMMAND", "LAST FAILURE"}}
	for _, e := range chosen {
		if !e.Usable() {
			rows = append(rows, []string{e.ID, "unreadable", "", "", "", "", "", e.Problem.Error()})
			continue
		}
		l := e.Letter
		status := l.Status(int(g.RedriveMax))
		if e.Claimed {
			status += " (running)"
		}
		rows = append(rows, []string{
			e.ID, status, ago(g.now.Sub(l.FirstFailedAt.Time)), g.due(l), fmt.Sprint(l.Count), fmt.Sprint(l.Redrives),
			strings.Join(masked(e), " "), text.Masked(string(l.Reason)),
		})
	}
	return rows
}

func (g *List) due(l *queue.Letter) string {
	switch {
	case !l.Parked():
		return "-"
	case l.Due(g.now):
		return "now"
	}
	return "in " + ago(l.DueAt.Sub(g.now))
}

// ago is a duration in its greatest unit that is at least 2.
func ago(d time.Duration) string {
	const day = 24 * time.Hour
	d = max(d, 0)
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%dd", d/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// letter shows all of one letter, and its tails.
func (g *List) letter(e *queue.Entry) {
	if !e.Usable() {
		g.Print(mode.Table(0, mode.Pairs("id", e.ID, "status", "unreadable", "problem", e.Problem.Error())))
		return
	}
	l := e.Letter
	rule := ""
	if l.Rule != nil {
		rule = text.Masked(string(*l.Rule))
	}
	input := "not kept"
	if l.Stdin.Present {
		input = fmt.Sprintf("%d bytes, SHA-256 %s", l.Stdin.Bytes, l.Stdin.SHA256)
	}
	rehearsed := ""
	if l.Rehearsed {
		rehearsed = "yes: a pretended failure"
	}
	cells := []string{
		"id", l.ID, "status", l.Status(int(g.RedriveMax)), "name", string(l.Name),
		"command", strings.Join(masked(e), " "),
		"directory", string(l.Cwd), "umask", l.Umask,
	}
	for _, flag := range slices.Sorted(maps.Keys(l.Policy)) {
		for _, value := range l.Policy[flag] {
			cells = append(cells, "policy", "--"+flag+" "+option.Masked(flag, string(value)))
		}
	}
	cells = append(cells,
		"outcome", fmt.Sprintf("%s, exit code %d, after %s", l.Outcome, l.ExitCode, message.Attempts(l.Attempts)),
		"reason", text.Masked(string(l.Reason)), "rule", rule, "verdict", l.Verdict,
		"first failure", l.FirstFailedAt.String(), "last failure", l.LastFailedAt.String(),
		"due", l.DueAt.String(), "deadline", l.DeadlineAt.String(),
		"redrives", fmt.Sprint(l.Redrives), "count", fmt.Sprint(l.Count), "input", input,
		"variables", strings.Join(slices.Sorted(maps.Keys(l.Env)), " "),
		"names only", strings.Join(queue.Strings(l.EnvNames), " "),
		"idempotency key", string(l.IdempotencyKey), "run", l.RunID, "trace", l.TraceID,
		"host", string(l.User)+"@"+string(l.Host), "rehearsed", rehearsed,
	)
	g.Print(mode.Table(0, mode.Pairs(cells...)))
	for i, tail := range g.d.Tails(e) {
		if tail != nil {
			name := [...]string{"standard output", "standard error"}[i]
			g.Print("\n" + name + ":\n" + strings.Map(harmless, strings.TrimSuffix(string(tail), "\n")) + "\n")
		}
	}
}

// harmless replaces what moves the cursor of a terminal.
func harmless(r rune) rune {
	if r != '\t' && r != '\n' && text.IsControl(r) {
		return ' '
	}
	return r
}
