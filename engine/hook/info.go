package hook

// This file builds the variables of a hook, beside those of an attempt.

import (
	"strconv"
	"time"
)

// Variables are those that only hooks see.
var Variables = []string{
	"RETRY_HOOK", "RETRY_RESULT_EXIT", "RETRY_RESULT_SIGNAL", "RETRY_RESULT_REASON", "RETRY_RESULT_VERDICT", "RETRY_RESULT_RULE", "RETRY_RESULT_OUTCOME",
	"RETRY_NEXT_DELAY_MS", "RETRY_TAIL_STDOUT", "RETRY_TAIL_STDERR",
}

// Info describes the last attempt for a hook; its texts are fit for an environment.
type Info struct {
	Exit                                   int
	Signal, Reason, Verdict, Rule, Outcome string
	// NextDelay is the plain delay after the attempt to come, if that fails; 0 for none.
	NextDelay time.Duration
	// Stdout and Stderr are the last part of its output, nil if that was not captured.
	Stdout, Stderr []byte
}

// Environ returns the variables, and a function that removes the files that they name. A
// file that cannot be written is not named.
func (s *Set) Environ(name Name, t *Info) (env []string, remove func()) {
	env = []string{
		"RETRY_HOOK=" + string(name),
		"RETRY_RESULT_EXIT=" + strconv.Itoa(t.Exit),
		"RETRY_RESULT_SIGNAL=" + t.Signal,
		"RETRY_RESULT_REASON=" + t.Reason,
		"RETRY_RESULT_VERDICT=" + t.Verdict,
		"RETRY_RESULT_RULE=" + t.Rule,
		"RETRY_RESULT_OUTCOME=" + t.Outcome,
		"RETRY_NEXT_DELAY_MS=" + strconv.FormatInt(t.NextDelay.Milliseconds(), 10),
	}
	var removes []func()
	for _, tail := range []struct {
		variable string
		data     []byte
	}{{"RETRY_TAIL_STDOUT", t.Stdout}, {"RETRY_TAIL_STDERR", t.Stderr}} {
		if tail.data == nil || s.Keep == nil {
			continue
		}
		path, drop, err := s.Keep(tail.data)
		if err != nil {
			continue
		}
		env, removes = append(env, tail.variable+"="+path), append(removes, drop)
	}
	return env, func() {
		for _, drop := range removes {
			drop()
		}
	}
}
