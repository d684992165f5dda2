package option

// This file resolves what runs around the attempts: hooks, --retry-with and the
// fallback (SPEC section 14).

import (
	"time"

	"github.com/retrysh/retry/engine/hook"
)

// hooks resolves the shell strings. Their syntax is left to the shell.
func (r *resolver) hooks(h *hook.Set) {
	g := r.g
	*h = hook.Set{
		BeforeRetry: plain(g.BeforeRetry), AfterSuccess: string(g.AfterSuccess), AfterGiveUp: string(g.AfterGiveUp), RetryWith: string(g.RetryWith), Fallback: string(g.Fallback),
		Limit: time.Duration(g.HookTimeout),
	}
}

// plain are scripts as text.
func plain(scripts []shellScript) (all []string) {
	for _, s := range scripts {
		all = append(all, string(s))
	}
	return all
}
