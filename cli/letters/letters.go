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
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/queue"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Where is the flag that says where the letters are.
type Where struct {
	DeadLetter string `variable:"yes"`
}

// Path is the directory that a value of --dead-letter stands for, taken against
// the working directory.
func Path(value string) (string, error) {
	if value != "" && value != "on" && value != "off" {
		return filepath.Abs(value)
	}
	path, err := lockedfile.StatePath("letters")
	if err != nil {
		return "", fmt.Errorf("there is no home directory for letters: %w; --dead-letter DIR names another one", err)
	}
	return path, nil
}

// list opens the directory and lists its letters. d is nil where it does not exist.
func list(value string) (d *queue.Dir, all []*queue.Entry, path string, err error) {
	if path, err = Path(value); err != nil {
		return nil, nil, "", err
	}
	if d, err = queue.Open(path, false); err == nil {
		all, err = d.List()
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return d, all, path, err
}

// unmatched reports the words that name no letter, and returns the exit code.
func unmatched(c *mode.Call, words []string) (code int) {
	for _, word := range words {
		c.Complain(fmt.Sprintf("no letter is %q or has a name that matches it", message.Printable(word)))
		code = exitcodes.Rejected
	}
	return code
}

// refuse reports why nothing is done.
func refuse(c *mode.Call, err error) int {
	c.Fail(err)
	return exitcodes.Rejected
}

// ListFlags is the grammar of --letters.
type ListFlags struct {
	mode.Common
	Where
	RedriveMax mode.Limit `default:"5"`
	Words      []string   `arg:"" optional:""`
}

// List is --letters.
func List(c mode.Call) int {
	var g ListFlags
	if err := mode.Parse(c, &g); err != nil {
		return c.Usage(err)
	}
	d, chosen, path, err := list(g.DeadLetter)
	if err != nil {
		return c.Fail(err)
	}
	v, code := view{d: d, limit: int(g.RedriveMax), now: time.Now()}, exitcodes.OK
	if len(g.Words) > 0 {
		var without []string
		chosen, without, err = queue.Select(chosen, g.Words, nil, nil)
		if code = unmatched(&c, without); err != nil {
			return refuse(&c, err)
		}
		v.detail = len(g.Words) == 1 && len(chosen) == 1 && chosen[0].ByID
	}
	slices.SortStableFunc(chosen, queue.Older)
	if len(chosen) == 0 {
		code = exitcodes.Rejected
		if len(g.Words) == 0 && !g.Quiet && !g.JSON() {
			fmt.Fprintln(c.Stderr, "retry: no letters")
		}
	}
	return c.Print(code, func(w *os.File) error {
		switch {
		case g.JSON():
			return v.json(w, path, chosen)
		case v.detail:
			return v.letter(w, chosen[0])
		case len(chosen) == 0:
			return nil
		}
		return mode.Table(w, c.Width(), v.rows(chosen))
	})
}

// DiscardFlags is the grammar of --discard.
type DiscardFlags struct {
	mode.Common
	Where
	OlderThan string
	Words     []string `arg:"" optional:""`
}

// Discard is --discard.
func Discard(c mode.Call) int {
	var g DiscardFlags
	if err := mode.Parse(c, &g); err != nil {
		return c.Usage(err)
	}
	if len(g.Words) == 0 {
		return c.Usage(errors.New("needs a word: a letter's id, a name, a glob on names, or all"))
	}
	var least time.Duration // since the last failure
	if g.OlderThan != "" {
		var err error
		if least, err = backoff.ParseDuration(g.OlderThan); err != nil {
			return c.Usage(fmt.Errorf("--older-than: %w", err))
		}
	}
	d, all, _, err := list(g.DeadLetter)
	if err != nil {
		return c.Fail(err)
	}
	chosen, without, err := queue.Select(all, g.Words, []string{queue.AllWord}, nil)
	code := unmatched(&c, without)
	if err != nil {
		return refuse(&c, err)
	}
	discarded := []string{}
	for _, e := range chosen {
		if time.Since(e.Last()) < least {
			continue
		}
		if err := discard(d, e); err != nil {
			c.Complain(fmt.Sprintf("letter %s is left: %s", e.ID, err))
			code = exitcodes.Rejected
			continue
		}
		discarded = append(discarded, e.ID)
	}
	return c.Print(code, func(w *os.File) error {
		switch {
		case g.JSON():
			return text.WriteJSON(w, map[string]any{"discarded": discarded})
		case g.Quiet || len(discarded) == 0:
			return nil
		}
		_, err := fmt.Fprintf(w, "discarded %s\n", strings.Join(discarded, " "))
		return err
	})
}

// discard removes a letter. One that cannot be read has to be named by its id, and
// one that another user may have written is not removed.
func discard(d *queue.Dir, e *queue.Entry) error {
	if e.Foreign || !e.Usable() && !e.ByID {
		return e.Problem
	}
	claim, now, err := d.Claim(e.ID)
	if err != nil {
		return err
	}
	defer claim.Release()
	if now.Foreign {
		return now.Problem
	}
	return claim.Remove()
}

type view struct {
	d      *queue.Dir
	limit  int // of redrives, from where on a letter is poison
	now    time.Time
	detail bool // all of the one letter is shown
}

func (v *view) json(w io.Writer, path string, chosen []*queue.Entry) error {
	shown, problems := []any{}, map[string]string{}
	for _, e := range chosen {
		if !e.Usable() {
			problems[e.ID] = e.Problem.Error()
			continue
		}
		data, err := e.Letter.Encode()
		if err != nil {
			return err
		}
		fields := map[string]any{}
		if err := json.Unmarshal(data, &fields); err != nil {
			return err
		}
		delete(fields, "policy")
		fields["command"], fields["reason"] = queue.Texts(masked(e)), queue.Text(text.Masked(string(e.Letter.Reason)))
		fields["env"] = slices.Sorted(maps.Keys(e.Letter.Env))
		fields["status"], fields["claimed"] = e.Letter.Status(v.limit), e.Claimed
		if v.detail {
			tails := v.d.Tails(e)
			fields["stdout_tail"], fields["stderr_tail"] = queue.Text(tails[0]), queue.Text(tails[1])
		}
		shown = append(shown, fields)
	}
	return text.WriteJSON(w, map[string]any{"letters": shown, "dir": path, "problems": problems})
}

// masked is the command as it is shown.
func masked(e *queue.Entry) []string { return text.MaskedArgs(queue.Strings(e.Letter.Command)) }

func (v *view) rows(chosen []*queue.Entry) [][]string {
	rows := [][]string{{"ID", "STATUS", "AGE", "DUE", "COUNT", "REDRIVES", "COMMAND", "LAST FAILURE"}}
	for _, e := range chosen {
		if !e.Usable() {
			rows = append(rows, []string{e.ID, "unreadable", "", "", "", "", "", e.Problem.Error()})
			continue
		}
		l := e.Letter
		status := l.Status(v.limit)
		if e.Claimed {
			status += " (running)"
		}
		rows = append(rows, []string{
			e.ID, status, ago(v.now.Sub(l.FirstFailedAt.Time)), v.due(l), fmt.Sprint(l.Count), fmt.Sprint(l.Redrives),
			strings.Join(masked(e), " "), text.Masked(string(l.Reason)),
		})
	}
	return rows
}

func (v *view) due(l *queue.Letter) string {
	switch {
	case !l.Parked():
		return "-"
	case l.Due(v.now):
		return "now"
	}
	return "in " + ago(l.DueAt.Sub(v.now))
}

// ago is a duration in its greatest unit that is at least 2.
func ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0); {
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
func (v *view) letter(w io.Writer, e *queue.Entry) error {
	if !e.Usable() {
		return mode.Table(w, 0, mode.Pairs("id", e.ID, "status", "unreadable", "problem", e.Problem.Error()))
	}
	l, rule, input, rehearsed := e.Letter, "", "not kept", ""
	if l.Rule != nil {
		rule = text.Masked(string(*l.Rule))
	}
	if l.Stdin.Present {
		input = fmt.Sprintf("%d bytes, SHA-256 %s", l.Stdin.Bytes, l.Stdin.SHA256)
	}
	if l.Rehearsed {
		rehearsed = "yes: a pretended failure"
	}
	cells := []string{
		"id", l.ID, "status", l.Status(v.limit), "name", string(l.Name), "command", strings.Join(masked(e), " "),
		"directory", string(l.Cwd), "umask", l.Umask,
	}
	for _, flag := range slices.Sorted(maps.Keys(l.Policy)) {
		for _, value := range l.Policy[flag] {
			cells = append(cells, "policy", "--"+flag+" "+text.MaskedValue(flag, string(value)))
		}
	}
	cells = append(cells,
		"outcome", fmt.Sprintf("%s, exit code %d, after %s", l.Outcome, l.ExitCode, message.Attempts(l.Attempts)),
		"reason", text.Masked(string(l.Reason)), "rule", rule, "verdict", l.Verdict,
		"first failure", l.FirstFailedAt.String(), "last failure", l.LastFailedAt.String(),
		"due", l.DueAt.String(), "deadline", l.DeadlineAt.String(),
		"redrives", fmt.Sprint(l.Redrives), "count", fmt.Sprint(l.Count), "input", input,
		"variables", strings.Join(slices.Sorted(maps.Keys(l.Env)), " "), "names only", strings.Join(queue.Strings(l.EnvNames), " "),
		"idempotency key", string(l.IdempotencyKey), "run", l.RunID, "trace", l.TraceID,
		"host", string(l.User)+"@"+string(l.Host), "rehearsed", rehearsed,
	)
	if err := mode.Table(w, 0, mode.Pairs(cells...)); err != nil {
		return err
	}
	for i, tail := range v.d.Tails(e) {
		if tail == nil {
			continue
		}
		name := [...]string{"standard output", "standard error"}[i]
		if _, err := fmt.Fprintf(w, "\n%s:\n%s\n", name, strings.Map(harmless, strings.TrimSuffix(string(tail), "\n"))); err != nil {
			return err
		}
	}
	return nil
}

// harmless replaces what moves the cursor of a terminal.
func harmless(r rune) rune {
	if r != '\t' && r != '\n' && unicode.IsControl(r) {
		return ' '
	}
	return r
}
