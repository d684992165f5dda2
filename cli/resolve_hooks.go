package cli

// This file resolves what is put around the attempts: hooks, --retry-with and
// the fallback (SPEC section 14).

import (
	"errors"

	"github.com/retrysh/retry/engine/hook"
)

// hooks resolves the shell strings. They are not looked into: what is wrong with
// one its shell will say.
func (r *resolver) hooks(h *hook.Set) {
	g := r.g
	for _, s := range []struct {
		flag   string
		values []string
	}{
		{"before-retry", g.BeforeRetry}, {"after-success", []string{g.AfterSuccess}}, {"after-give-up", []string{g.AfterGiveUp}},
		{"retry-with", []string{g.RetryWith}}, {"fallback", []string{g.Fallback}},
	} {
		for _, script := range s.values {
			if r.given(s.flag) && script == "" {
				r.fail(s.flag, errors.New(`"" is not a shell command; write it as in 'make clean'`))
			}
		}
	}
	*h = hook.Set{
		BeforeRetry: g.BeforeRetry, AfterSuccess: g.AfterSuccess, AfterGiveUp: g.AfterGiveUp, RetryWith: g.RetryWith, Fallback: g.Fallback,
		Limit: r.duration("hook-timeout", g.HookTimeout),
	}
}
