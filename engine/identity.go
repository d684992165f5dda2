package engine

// This file builds the environment of the command: with it the command can distinguish
// attempts, be idempotent, keep to the deadline and continue a trace.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/retrysh/retry/engine/classify/command"
)

// Identity names a run, the same in every attempt.
type Identity struct {
	// Environ is the program's own environment.
	Environ []string
	// RunID is a random UUID, Key the idempotency key, Depth 1 or one more than that of
	// the retry around it. ParentRunID is the run that this one repeats, "" for none.
	RunID, Key, ParentRunID string
	Depth                   int
	Trace                   Trace
	// Random returns 64 random bits, for span ids. Without it attempts get no environment:
	// they are not processes.
	Random func() uint64
}

// Trace is a W3C trace context: its ID and flags, 32 and 2 hexadecimal digits, the span of
// the run and that of its parent, 16 each; Parent is "" if the trace begins here.
type Trace struct {
	ID, Flags, Span, Parent string
}

// Sampled reports whether the trace is recorded (section 3.2.2.5).
func (t *Trace) Sampled() bool { return t.Flags == "01" || t.Flags == "03" }

// NewRunID returns a random UUID, version 4 (RFC 9562, section 5.4).
func NewRunID(random func() uint64) string {
	high, low := random()&^0xf000|0x4000, random()&(1<<62-1)|1<<63
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1))
}

// knownFlags are sampled and, since level 2, random-trace-id; others have to be 0 (W3C
// Trace Context, section 3.2.2.5).
const knownFlags = 0b11

// LongestName is the most code points that the name of a run has (docs/status.md).
const LongestName = 64

// NameOf is the name of a run that was given none: that of its command, or wait.
func NameOf(argv []string) string {
	if len(argv) == 0 {
		return "wait"
	}
	name := []rune(command.Find(argv))
	name = name[:min(len(name), LongestName)]
	for i, r := range name {
		if !unicode.IsPrint(r) {
			name[i] = unicode.ReplacementChar
		}
	}
	return cmp.Or(string(name), "-")
}

// ContinueTrace reads a traceparent header (W3C Trace Context, section 3.2.2). If there is
// none or it is not valid, it begins a sampled trace: a command that samples as its parent
// does would otherwise record nothing.
func ContinueTrace(traceparent string, random func() uint64) Trace {
	if fields := strings.Split(traceparent, "-"); len(fields) >= 4 &&
		isHex(fields[0], 2) && fields[0] != "ff" && (len(fields) == 4 || fields[0] != "00") &&
		isHex(fields[1], 32) && strings.Trim(fields[1], "0") != "" &&
		isHex(fields[2], 16) && strings.Trim(fields[2], "0") != "" && isHex(fields[3], 2) {
		flags, _ := strconv.ParseUint(fields[3], 16, 8)
		return Trace{
			ID: fields[1], Flags: fmt.Sprintf("%02x", flags&knownFlags), Span: newSpan(random), Parent: fields[2],
		}
	}
	return Trace{ID: fmt.Sprintf("%016x%016x", random(), random()|1), Flags: "01", Span: newSpan(random)}
}

// newSpan draws the id of a span, which is not 0 (section 3.2.2.4).
func newSpan(random func() uint64) string { return fmt.Sprintf("%016x", random()|1) }

func isHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// set are the variables that environ sets or unsets. Those behind TRACEPARENT are for
// hooks.
var set = []string{
	"RETRY_ATTEMPT", "RETRY_MAX_ATTEMPTS", "RETRY_RUN_ID", "RETRY_IDEMPOTENCY_KEY",
	"RETRY_LAST_EXIT", "RETRY_LAST_REASON", "RETRY_DELAY_MS", "RETRY_EXPIRES_AT",
	"RETRY_DEPTH", "RETRY_PARENT_RUN_ID", "TRACEPARENT",
	"RETRY_HOOK", "RETRY_RESULT_EXIT", "RETRY_RESULT_SIGNAL", "RETRY_RESULT_REASON",
	"RETRY_RESULT_VERDICT", "RETRY_RESULT_RULE",
	"RETRY_RESULT_OUTCOME", "RETRY_NEXT_DELAY_MS", "RETRY_TAIL_STDOUT", "RETRY_TAIL_STDERR",
}

// SetsVariable reports whether the program sets a variable of this name for the
// command.
func SetsVariable(name string) bool {
	return slices.Contains(set, name) || name == "RETRY_COPY" || strings.HasPrefix(name, "RETRY_USE_")
}

// traceState is dropped if its trace is not continued (section 3.3 of the same).
const traceState = "TRACESTATE"

// inherited is the part of the program's own environment that a command may keep. It is
// not nil.
func (id *Identity) inherited() []string {
	kept := []string{}
	for _, entry := range id.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(set, name) && (name != traceState || id.Trace.Parent != "") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// environ returns the environment of attempt n or of its hook: last is the attempt before
// it, own what only it sees, span its place in the trace.
func (e *execution) environ(last *trial, n int, own []string, deadline time.Time, span string) []string {
	id := &e.Identity
	if id.Random == nil {
		return nil
	}
	if e.inherited == nil {
		e.inherited = id.inherited()
	}
	env := make([]string, 0, len(e.inherited)+len(set)+len(own))
	for _, entry := range e.inherited {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(own, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			env = append(env, entry)
		}
	}
	env = append(append(env, own...),
		"RETRY_ATTEMPT="+strconv.Itoa(n),
		"RETRY_MAX_ATTEMPTS="+strconv.Itoa(e.Policy.Attempts),
		"RETRY_RUN_ID="+id.RunID,
		"RETRY_IDEMPOTENCY_KEY="+id.Key,
		"RETRY_DELAY_MS="+strconv.FormatInt(last.waited.Milliseconds(), 10),
		"RETRY_DEPTH="+strconv.Itoa(id.Depth),
		"TRACEPARENT=00-"+id.Trace.ID+"-"+span+"-"+id.Trace.Flags,
	)
	if id.ParentRunID != "" {
		env = append(env, "RETRY_PARENT_RUN_ID="+id.ParentRunID)
	}
	if n > 1 {
		env = append(env,
			"RETRY_LAST_EXIT="+strconv.Itoa(last.result.ExitCode),
			"RETRY_LAST_REASON="+oneLine(last.decision.Reason))
	}
	if !deadline.IsZero() {
		now := time.Now()
		// Rounded, since the clocks of the two terms differ by nanoseconds, and an inner
		// retry passes on what it was given.
		expires := now.Add(deadline.Sub(now)).Round(time.Millisecond).UnixMilli()
		env = append(env, fmt.Sprintf("RETRY_EXPIRES_AT=%d.%03d", expires/1000, expires%1000))
	}
	return env
}

// oneLine makes a reason fit for a variable: a rule may quote anything that the user
// typed, and an environment has no NUL.
func oneLine(s string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\x00", " ").Replace(s)
}
