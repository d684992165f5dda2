// Package queue keeps letters: runs that were given up, and runs that are parked
// until their next wait ends, so that they can be run again (docs/letters.md).
//
// A letter is a directory with the run in letter.json, the whole standard input and
// the last part of each output. Every change is written to other names and renamed, so
// that a reader sees a whole letter or none, also after a writer was killed. Each
// letter has a lock, which the command of a redriven letter inherits. The package never
// runs a command and never reads the clock.
package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/engine/text"
)

// Version is the format of letter.json that this program reads and writes.
const Version = 1

// The outcomes of the runs that are kept.
const (
	parked   = "parked"
	outcomes = "exhausted stopped deadline refused " + parked
)

// Letter is letter.json.
type Letter struct {
	Version        int               `json:"version"`
	ID             string            `json:"id"`
	RunID          string            `json:"run_id"` // of the last run
	IdempotencyKey Text              `json:"idempotency_key"`
	Name           Text              `json:"name"`
	Command        []Text            `json:"command"` // whole: a masked one cannot be run again
	Cwd            Text              `json:"cwd"`
	Umask          string            `json:"umask"` // octal, as in "0022"
	Policy         map[string][]Text `json:"policy"`
	Outcome        string            `json:"outcome"`
	ExitCode       int               `json:"exit_code"`
	Signal         *string           `json:"signal"`
	TimedOut       bool              `json:"timed_out"`
	Reason         Text              `json:"reason"`
	Rule           *Text             `json:"rule"`
	Verdict        string            `json:"verdict"`
	Attempts       int               `json:"attempts"`
	MaxAttempts    int               `json:"max_attempts"` // 0: unlimited
	FirstFailedAt  text.Time         `json:"first_failed_at"`
	LastFailedAt   text.Time         `json:"last_failed_at"`
	DueAt          *text.Time        `json:"due_at"`
	DeadlineAt     *text.Time        `json:"deadline_at"`
	Schedule       *Schedule         `json:"schedule"` // nil unless parked
	Redrives       int               `json:"redrives"`
	Count          int               `json:"count"` // runs that were joined to one letter
	Stdin          Stdin             `json:"stdin"`
	Env            map[string]Text   `json:"env"`
	EnvNames       []Text            `json:"env_names"`
	Host           Text              `json:"host"`
	User           Text              `json:"user"`
	TraceID        string            `json:"trace_id"`
	Rehearsed      bool              `json:"rehearsed"`
}

// Schedule is where a parked run continues: the number of its next wait, the wait
// before it, and the wait that it was parked for.
type Schedule struct {
	Step       int   `json:"step"`
	PreviousMs int64 `json:"previous_ms"`
	WaitMs     int64 `json:"wait_ms"`
	// Rotation is the position in each list of --rotate, by name.
	Rotation map[string]rotate.Standing `json:"rotation,omitempty"`
}

// Stdin says what is kept of standard input.
type Stdin struct {
	Present bool   `json:"present"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"` // hexadecimal, "" if none is kept
}

// Text is a string. One that is not UTF-8 is written {"base64": "..."}.
type Text string

func (t Text) MarshalJSON() ([]byte, error) {
	content := t.content()
	if coded, is := content.([]byte); is {
		content = map[string][]byte{"base64": coded}
	}
	var b bytes.Buffer
	err := text.WriteJSON(&b, content)
	return b.Bytes(), err
}

// content is what the JSON of t holds as a string: t, or its bytes if it is not UTF-8.
func (t Text) content() any {
	if utf8.ValidString(string(t)) {
		return string(t)
	}
	return []byte(t)
}

func (t *Text) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return json.Unmarshal(b, (*string)(t))
	}
	var coded struct{ Base64 []byte }
	err := json.Unmarshal(b, &coded)
	*t = Text(coded.Base64)
	return err
}

// Texts are strings as a letter keeps them.
func Texts(words []string) []Text { return convert[Text](words) }

// Strings are texts as the program uses them.
func Strings(texts []Text) []string { return convert[string](texts) }

func convert[To, From ~string](from []From) []To {
	to := make([]To, len(from))
	for i, s := range from {
		to[i] = To(s)
	}
	return to
}

// NewID returns the id of the letter of a run whose first failure was at the
// time: 20261124T015407Z-1b4e28ba.
func NewID(first time.Time, runID string) string {
	return first.UTC().Format(idTime) + "-" + runID[:min(len(runID), runDigits)]
}

// A letter's id is the time, a dash, and the first digits of a run's id.
const (
	idTime     = "20060102T150405Z"
	beforeDash = len(idTime)
	runDigits  = 8
	idLength   = beforeDash + 1 + runDigits
	hexDigits  = "0123456789abcdef"
)

// isID reports whether a file name is that of a letter.
func isID(name string) bool {
	if len(name) != idLength || name[beforeDash] != '-' || strings.Trim(name[beforeDash+1:], hexDigits) != "" {
		return false
	}
	_, err := time.Parse(idTime, name[:beforeDash])
	return err == nil
}

// Encode returns the content of letter.json, for a person to read as well.
func (l *Letter) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(l)
	return b.Bytes(), err
}

// Decode reads the letter.json of the letter id. If this program cannot run that
// letter, the error says why, and the letter returned has what could be read.
func Decode(id string, data []byte) (*Letter, error) {
	l := new(Letter)
	err := json.Unmarshal(data, l)
	if err == nil || l.Version != 0 && l.Version != Version {
		err = l.check(id)
	}
	if err != nil {
		err = fmt.Errorf("letter.json: %w", err)
	}
	return l, err
}

// check refuses what no run of this program has written.
func (l *Letter) check(id string) error {
	umask, umaskErr := strconv.ParseUint(l.Umask, 8, 16)
	switch {
	case l.Version != Version:
		return fmt.Errorf("version %d; this program reads version %d", l.Version, Version)
	case l.ID != id:
		return fmt.Errorf("its id is %q, its directory is %q", l.ID, id)
	case len(l.RunID) < runDigits || strings.Trim(l.RunID, hexDigits+"-") != "":
		return fmt.Errorf("run_id %q is not a run's id", l.RunID)
	case len(l.Command) == 0 || l.Command[0] == "":
		return errors.New("there is no command")
	case slices.ContainsFunc(append(l.Command, l.Cwd, l.IdempotencyKey),
		func(t Text) bool { return strings.ContainsRune(string(t), 0) }):
		return errors.New("a word holds a NUL, which no command can be given")
	case !filepath.IsAbs(string(l.Cwd)):
		return fmt.Errorf("cwd %q is not a whole path", string(l.Cwd))
	case umaskErr != nil || umask > 0o777:
		return fmt.Errorf("umask %q is not one", l.Umask)
	case !slices.Contains(strings.Fields(outcomes), l.Outcome):
		return fmt.Errorf("outcome %q is none of %s", l.Outcome, strings.ReplaceAll(outcomes, " ", ", "))
	case l.Attempts < 0 || l.Attempts >= math.MaxInt32 || l.Redrives < 0 || l.Redrives >= math.MaxInt32 || l.Count < 0:
		return errors.New("attempts, redrives and count are at least 0")
	case l.FirstFailedAt.IsZero() || l.LastFailedAt.IsZero():
		return errors.New("it does not say when the run failed")
	case l.Stdin.Present && (l.Stdin.Bytes < 0 || len(l.Stdin.SHA256) != 64):
		return errors.New("it does not say what its input is")
	}
	for name := range l.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(string(l.Env[name]), 0) {
			return fmt.Errorf("env: %q is not a variable", name)
		}
	}
	if s := l.Schedule; l.Parked() &&
		(s == nil || l.DueAt == nil || l.Attempts < 1 || s.Step < 1 || s.Step >= math.MaxInt32 ||
			min(s.PreviousMs, s.WaitMs) < 0 || max(s.PreviousMs, s.WaitMs) > math.MaxInt64/int64(time.Millisecond)) {
		return errors.New("it does not say where the parked run continues")
	}
	return nil
}

// Parked reports whether the run waits, and has not given up.
func (l *Letter) Parked() bool { return l.Outcome == parked }

// Due reports whether the wait of a parked run is over, or the clock was set back.
func (l *Letter) Due(now time.Time) bool {
	return l.Parked() && l.DueAt != nil && (!now.Before(l.DueAt.Time) || now.Before(l.LastFailedAt.Time))
}

// Status is poison for a letter that was redriven limit times (0: no limit), else
// parked or failed.
func (l *Letter) Status(limit int) string {
	switch {
	case limit > 0 && l.Redrives >= limit:
		return "poison"
	case l.Parked():
		return parked
	}
	return "failed"
}

// sameWork reports whether two runs with a given idempotency key do the same work.
func (l *Letter) sameWork(other *Letter) bool {
	return l.IdempotencyKey == other.IdempotencyKey && slices.Equal(l.Command, other.Command) &&
		l.Cwd == other.Cwd && l.Stdin == other.Stdin
}

// join makes l, the letter of a new run, replace the one of the same work.
func (l *Letter) join(old *Letter) {
	l.ID = old.ID
	l.FirstFailedAt = old.FirstFailedAt
	l.Redrives = old.Redrives
	l.Count = old.Count + 1
}
