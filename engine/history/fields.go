package history

// This file is the text of a record: a JSON object, whose fields are listed once for
// those who write and read it.

import (
	"time"

	"github.com/retrysh/retry/engine/text"
)

// field is a field of a record or an attempt: its name, and a pointer to its value. What
// is empty is left out, numbers and an always apart.
type field struct {
	name  string
	value any
	// on, where it is not nil, says whether the field is there.
	on *bool
	// shown says that statistics do not use it.
	shown bool
}

type (
	// unique is a text that no other record has.
	unique string
	// always is written where it is false, too.
	always bool
)

func (r *Record) fields() [24]field {
	return [...]field{
		{name: "v", value: &r.Version},
		{name: "time", value: &r.Time},
		{name: "run_id", value: (*unique)(&r.RunID)},
		{name: "parent_run_id", value: (*unique)(&r.ParentRunID), shown: true},
		{name: "depth", value: &r.Depth},
		{name: "name", value: &r.Name},
		{name: "command", value: &r.Command, shown: true},
		{name: "cwd", value: &r.Cwd, shown: true},
		{name: "key", value: &r.Key},
		{name: "policy", value: &r.Policy},
		{name: "outcome", value: &r.Outcome},
		{name: "exit_code", value: &r.ExitCode},
		{name: "attempts", value: &r.Attempts},
		{name: "attempt_count", value: &r.AttemptCount},
		{name: "elapsed_ms", value: &r.ElapsedMS},
		{name: "waited_ms", value: &r.WaitedMS},
		{name: "commit", value: &r.Commit},
		{name: "ci", value: &r.CI, shown: true},
		{name: "host", value: &r.Host, shown: true},
		{name: "until_failure", value: &r.UntilFailure},
		{name: "repeat", value: &r.Repeat},
		{name: "rehearsed", value: &r.Rehearsed},
		{name: "redriven", value: &r.Redriven},
		{name: "cut", value: &r.Cut},
	}
}

func (a *Attempt) fields() [11]field {
	return [...]field{
		{name: "exit_code", value: &a.ExitCode},
		{name: "signal", value: &a.Signal},
		{name: "timed_out", value: &a.TimedOut},
		{name: "ms", value: &a.MS},
		{name: "success", value: (*always)(&a.Success)},
		{name: "verdict", value: &a.Verdict},
		{name: "rule", value: &a.Rule},
		{name: "reason", value: &a.Reason, shown: true},
		{name: "fp", value: &a.FP},
		{name: "jittered_ms", value: &a.JitteredMS, on: &a.Waited},
		{name: "slept_ms", value: &a.SleptMS, on: &a.Waited},
	}
}

// appendFields appends an object to b. Of a text so many bytes are written, of the
// command's words together four times as many.
func appendFields(b []byte, all []field, limit int) []byte {
	j := text.JSON{B: b}
	j.Open("", '{')
	for i := range all {
		f := &all[i]
		if f.on != nil && !*f.on {
			continue
		}
		switch v := f.value.(type) {
		case *int:
			j.Number(f.name, float64(*v))
		case *float64:
			j.Number(f.name, *v)
		case *time.Time:
			j.Time(f.name, *v)
		case *always:
			j.Bool(f.name, bool(*v))
		case *bool:
			if *v {
				j.Bool(f.name, true)
			}
		case *unique:
			appendText(&j, f.name, string(*v), limit)
		case *string:
			appendText(&j, f.name, *v, limit)
		case *[]string:
			appendWords(&j, f.name, *v, limit)
		case *[]Attempt:
			j.Open(f.name, '[')
			for k := range *v {
				attempt := (*v)[k].fields()
				j.B = appendFields(j.B, attempt[:], limit)
			}
			j.Close(']')
		}
	}
	j.Close('}')
	return j.B
}

func appendText(j *text.JSON, name, s string, limit int) {
	if s != "" {
		j.String(name, text.Cut(s, limit))
	}
}

func appendWords(j *text.JSON, name string, words []string, limit int) {
	if len(words) == 0 {
		return
	}
	j.Open(name, '[')
	for start, i := len(j.B), 0; i < len(words) && (len(j.B)-start)/4 <= limit; i++ {
		j.String("", text.Cut(words[i], limit))
	}
	j.Close(']')
}
