package option

// This file says how a value that is wrong was probably meant, if that depends on the flag
// and on where it was set.

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/text"
)

// patternsFor are the flags that decide by output what others decide by exit code.
var patternsFor = map[string]string{"on-exit": "on-stderr", "stop-on-exit": "stop-on-stderr"}

// meant adds what was probably meant to the error about the value of a setting.
func (s *Setting) meant(err error) error {
	var status classify.HTTPStatus
	var two *twoTargets
	name := s.Flag.name
	switch {
	case errors.As(err, &status) && patternsFor[name] != "":
		return fmt.Errorf("%w; write %s", err, s.written(patternsFor[name], string(status)))
	case errors.As(err, &two):
		return fmt.Errorf("%w; %s", err, s.oneEach(two))
	}
	if number, wrong := strconv.ParseFloat(s.Value, 64); wrong == nil && number > 0 {
		switch {
		case name == "backoff" && number >= 1:
			return fmt.Errorf("%w; a multiplier is %s", err, s.written("factor", s.Value))
		case name == "jitter" && number <= 1:
			return fmt.Errorf("%w; write %s", err, s.written("jitter", percentage(s.Value)))
		case name == "jitter" && number <= 100:
			return fmt.Errorf("%w; write %s", err, s.written("jitter", s.Value+"%"))
		}
	}
	return err
}

// written is how a flag is set in the place from where this setting comes.
func (s *Setting) written(flag, value string) string {
	switch s.Source {
	case FromPolicy:
		return flag + " " + value
	case FromEnvironment:
		return ByName(flag).Variable() + "=" + text.ShellWord(value)
	}
	return "--" + flag + " " + text.ShellWord(value)
}

// oneEach says how two targets are given.
func (s *Setting) oneEach(two *twoTargets) string {
	if s.Source == FromEnvironment {
		return "each stands on a line of its own in " + s.Word
	}
	first, second := s.written(s.Flag.name, two.First), s.written(s.Flag.name, two.Second)
	if s.Source == FromPolicy {
		return "each stands on a line of its own, as in " + first
	}
	return "give the flag twice, as in " + first + " " + second
}
