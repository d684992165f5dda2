package cli

// This file resolves success, retry or stop, and what is known of failures
// (SPEC sections 5 and 9).

import (
	"errors"
	"regexp"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/match"
)

// judging resolves the sections on success, retry or stop.
func (r *resolver) judging(rules *engine.Rules) {
	g := r.g
	rules.SuccessOnExit = r.exits("success-on-exit", g.SuccessOnExit)
	rules.StopOnExit = r.exits("stop-on-exit", g.StopOnExit)
	rules.OnExit = r.exits("on-exit", g.OnExit)
	rules.Stdout = engine.Patterns{
		Until: r.patterns("until-stdout", g.UntilStdout), FailOn: r.patterns("fail-on-stdout", g.FailOnStdout),
		StopOn: r.patterns("stop-on-stdout", g.StopOnStdout), On: r.patterns("on-stdout", g.OnStdout),
	}
	rules.Stderr = engine.Patterns{
		Until: r.patterns("until-stderr", g.UntilStderr), FailOn: r.patterns("fail-on-stderr", g.FailOnStderr),
		StopOn: r.patterns("stop-on-stderr", g.StopOnStderr), On: r.patterns("on-stderr", g.OnStderr),
	}
	rules.Mode = map[string]engine.Mode{"any": engine.Any, "smart": engine.Smart, "strict": engine.Strict}[r.oneOf("classify", g.Classify)]
	for _, name := range g.Rules {
		r.fileName("rules", name)
	}
	if len(g.Rules) > 0 && !r.given("classify") {
		rules.Mode = engine.Smart // rules are for nothing else
	}
	switch g.RetryAfter {
	case "off":
	case "auto", "":
		if r.given("retry-after") && g.RetryAfter == "" {
			r.fail("retry-after", errors.New(`"" is not auto, off or a regular expression`))
		}
		rules.Hints = engine.Hints{Use: true, Capture: r.given("retry-after")}
	default:
		re, err := regexp.Compile(g.RetryAfter)
		if err != nil {
			_, err = match.Parse(g.RetryAfter)
			r.fail("retry-after", err)
		}
		rules.Hints = engine.Hints{Use: true, Capture: true, Pattern: re}
	}
	rules.Hints.HeldStdout, rules.Hints.HeldStderr = g.Stdout == "hold", g.Stderr == "hold"
}

func (r *resolver) exits(flag string, lists []string) classify.Exits {
	var all classify.Exits
	for _, list := range lists {
		exits, err := classify.ParseExits(list)
		r.fail(flag, err)
		all = append(all, exits...)
	}
	return all
}

func (r *resolver) patterns(flag string, sources []string) []*match.Pattern {
	var all []*match.Pattern
	for _, source := range sources {
		p, err := match.Parse(source)
		if err == nil && source == "" {
			err = errors.New(`"" matches every line; if that is meant, write "^"`)
		}
		r.fail(flag, err)
		all = append(all, p)
	}
	return all
}
