// Package human writes events for a person, on standard error: one line for each
// failed attempt, one at the end, and a live countdown on a terminal.
//
// It alone uses colour. It decides nothing, and writes nothing when the first
// attempt succeeds.
package human

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
)

// Level is how much is written.
type Level int

// The levels: errors of the program itself; failures and the end; every start and
// wait as well.
const (
	Quiet Level = iota - 1
	Normal
	Verbose
)

// Sink writes events for a person.
type Sink struct {
	Level Level
	Color bool
	Run   *event.Run // has each event before the sink
	// Screen is the terminal that W writes to, nil if W is no terminal.
	Screen Screen
	// Name returns what lines call the run, "" for nothing.
	Name func() string
	// EndLine, if not nil, has the line of the output before ended, and returns whether it
	// was open.
	EndLine func() bool
	// Timestamps puts the time before each line.
	Timestamps bool
	// Holds has lines held until the run has given up. One that succeeds has none.
	Holds bool
	// Journal puts its priority before each line, for systemd's journal.
	Journal bool

	writing sync.Mutex // a leaf: guards W against hide, and what follows
	W       io.Writer
	shown   string // what is drawn now, "" for nothing
	undo    string // what erases it
	hidden  bool   // while the program is stopped

	emitting sync.Mutex // guards what follows: a line of the program may come at any time
	claimed  bool       // the terminal is this run's to draw on
	timer    *time.Timer
	narrator message.Narrator
	held     strings.Builder // lines
}

// Emit writes one event.
func (s *Sink) Emit(e event.Event) {
	s.emitting.Lock()
	defer s.emitting.Unlock()
	if _, ok := e.(*event.Blocking); ok {
		return // nothing is written, and what is drawn may stay
	}
	s.clear()
	s.narrator.Run = s.Run
	s.narrator.Verbose = s.Level == Verbose
	s.narrator.Quiet = s.Level == Quiet
	lines := s.narrator.Tell(e)
	if s.Level == Quiet {
		lines = slices.DeleteFunc(lines, func(l message.Line) bool { return !l.Always })
	}
	if !s.live(e) {
		for _, line := range lines {
			if line.Level > message.Detail || s.Level == Verbose {
				s.line(&line)
			}
		}
	}
	if _, ok := e.(*event.Concluding); ok {
		s.release()
	}
	if s.Level != Quiet {
		s.drawing(e)
	}
}

// release writes the lines that were held. No more are.
func (s *Sink) release() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.Holds = false
	if held := s.held.String(); held != "" {
		s.write(s.newLine() + held)
	}
}

// newLine ends the line of the output before, if it is open.
func (s *Sink) newLine() string {
	if s.EndLine == nil || !s.EndLine() {
		return ""
	}
	return "\n"
}

// live reports whether an event is drawn in place of its line.
func (s *Sink) live(e event.Event) bool {
	switch e.(type) {
	case *event.TargetPending:
		return s.Level != Verbose && s.claim()
	case *event.TargetsPending, *event.SlotPending:
		return s.claim()
	}
	return false
}

// drawing draws what lasts.
func (s *Sink) drawing(e event.Event) {
	switch e := e.(type) {
	case *event.AttemptStarted:
		s.status(e)
	case *event.TargetsPending:
		if s.claim() {
			s.targets(e)
		}
	default:
		if lasts, text := message.Countdown(e); text != nil {
			s.countdown(lasts, text)
		}
	}
}

// Print writes a line if the level is at least this one. At Quiet the line is an error of
// the program itself.
func (s *Sink) Print(least Level, text string) {
	s.emitting.Lock()
	defer s.emitting.Unlock()
	if s.Level < least {
		return
	}
	line := message.Line{Level: message.Info, Text: text}
	if least == Quiet {
		line.Level = message.Bad
	}
	s.clear()
	s.line(&line)
}

// shades are the colours of a line's beginning and of its verdict. They can be read on white
// and on black, which yellow and a faint text cannot.
var shades = map[message.Level]color.Attribute{
	message.Good: color.FgGreen, message.Warning: color.FgMagenta, message.Bad: color.FgRed,
}

// priorities are those of systemd's journal, as a line of a service begins (sd-daemon(3)).
var priorities = map[message.Level]string{
	message.Detail: "<7>", message.Info: "<6>", message.Good: "<6>", message.Warning: "<4>", message.Bad: "<3>",
}

// Where a colour begins and ends in a line that is not wrapped yet. What is printable has no
// such characters.
const (
	shadeOn  = "\x01"
	shadeOff = "\x02"
)

// line writes one line, which a terminal gets wrapped at words. Control characters
// from the command or the user are replaced. The colour library's own choice, which
// follows standard output, is overridden.
func (s *Sink) line(l *message.Line) {
	prefix := strings.TrimSuffix(s.prefix(), " ")
	line := message.Printable(l.String())
	on, off := "", ""
	if shade, ok := shades[l.Level]; ok && s.Color {
		c := color.New(shade)
		c.EnableColor()
		on, off, _ = strings.Cut(c.Sprint(shadeOn), shadeOn)
		prefix = shadeOn + prefix + shadeOff
		if verdict := message.Printable(l.Verdict); verdict != "" {
			line = strings.Replace(line, verdict, shadeOn+verdict+shadeOff, 1)
		}
	}
	line = prefix + " " + line
	if s.Timestamps {
		line = time.Now().Format(text.Timestamp) + " " + line
	}
	if s.Journal {
		line = priorities[l.Level] + line
	}
	end := "\n"
	if s.Screen != nil && s.Screen.Raw() {
		end = "\r\n"
	}
	rows := strings.Join(wrap(line, s.columns()), end) + end
	rows = strings.NewReplacer(shadeOn, on, shadeOff, off).Replace(rows)
	if s.Holds {
		s.held.WriteString(rows)
		return
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.write(s.newLine() + rows)
}

// prefix begins every line. It has the name that Name returns, if there is one.
func (s *Sink) prefix() string {
	if name := s.Name(); name != "" {
		return "retry[" + message.Printable(name) + "]: "
	}
	return "retry: "
}

// write writes; s.writing is held.
func (s *Sink) write(text string) {
	if text != "" {
		_, _ = io.WriteString(s.W, text)
	}
}

// indent begins each row after the first.
const indent = "       "

// leastColumns is the narrowest terminal that lines are wrapped for.
const leastColumns = len(indent) + 5

// wrap breaks text at blanks into rows of less than width columns: one that ends
// in the last column makes some terminals leave an empty row. A longer word
// stays whole, to be copied. A width of 0 breaks nothing.
func wrap(text string, width int) []string {
	if width < leastColumns {
		return []string{text}
	}
	var rows []string
	for {
		end, columns := -1, 0 // the last blank that a row can end at, and the columns before
		for i, r := range text {
			if r == ' ' && i > len(indent) && (columns < width || end < 0) {
				end = i
			}
			columns += runewidth.RuneWidth(r)
		}
		if columns < width || end < 0 {
			return append(rows, text)
		}
		rows = append(rows, text[:end])
		text = indent + strings.TrimLeft(text[end:], " ")
	}
}
