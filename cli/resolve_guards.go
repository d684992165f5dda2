package cli

// This file resolves the guards shared by processes and machines (SPEC section
// 12).

import (
	"errors"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/guard"
)

// guarding is what a run needs to know of its guards.
type guarding struct {
	key    string // "" for none
	guards guard.Guards
	// address is where the state is, nil for the host's own files.
	address *storeAddress
	timeout time.Duration
	closed  bool
}

// longestKey is the greatest length of a key, in code points.
const longestKey = 200

// guarding resolves the section on guards. Where there is no key, nothing is
// kept of the flags that only go with one.
func (r *resolver) guarding() guarding {
	g := r.g
	w := guarding{key: g.Key, timeout: r.duration("store-timeout", g.StoreTimeout)}
	if r.given("key") {
		r.fail("key", checkKey(g.Key))
	}
	w.guards = r.guards()
	w.guards.Attempts = int64(r.count("attempts", g.Attempts))
	if w.timeout == 0 {
		r.fail("store-timeout", fmt.Errorf("%q leaves no time; use a duration above 0, such as 250ms", g.StoreTimeout))
	}
	if r.given("store") {
		address, err := parseStore(g.Store)
		r.fail("store", err)
		w.address = &address
	}
	w.closed = w.guards.Slots.N > 0
	if r.given("store-fail") {
		w.closed = r.oneOf("store-fail", g.StoreFail) == "closed"
	}
	return w
}

// checkKey refuses what names nothing that a person could read.
func checkKey(key string) error {
	switch n := utf8.RuneCountInString(key); {
	case n == 0:
		return errors.New(`"" is not a key; name what the guards protect, such as npm or db-prod`)
	case n > longestKey:
		return fmt.Errorf("%q has %d characters; a key has at most %d", key, n, longestKey)
	}
	for i, c := range key {
		if !unicode.IsPrint(c) || c == utf8.RuneError {
			return fmt.Errorf("%q is not printable, at byte %d; a key is 1 to %d printable characters", key, i, longestKey)
		}
	}
	return nil
}

// guards resolves the guards themselves. The runs of a simulation share them
// without a key.
func (r *resolver) guards() guard.Guards {
	g := r.g
	var all guard.Guards
	all.Breaker = value(r, "breaker", g.Breaker, guard.ParseBreaker)
	all.Budget = value(r, "budget", g.Budget, guard.ParseBudget)
	all.Tokens = value(r, "tokens", g.Tokens, guard.ParseTokens)
	all.Slots = value(r, "max-concurrent", g.MaxConcurrent, guard.ParseSlots)
	all.Adaptive = g.Adaptive
	all.Priority = value(r, "priority", g.Priority, guard.ParsePriority)
	for _, flag := range []string{"breaker", "budget", "tokens", "max-concurrent", "adaptive"} {
		if r.given(flag) && !r.given("key") && !r.given("simulate") && !r.partial && (flag != "adaptive" || g.Adaptive) {
			r.fail(flag, errors.New("needs --key NAME, which says what is protected, such as --key npm"))
		}
	}
	return all
}

// value reads the value of a flag that was given.
func value[T any](r *resolver, flag, text string, read func(string) (T, error)) (v T) {
	if r.given(flag) {
		var err error
		v, err = read(text)
		r.fail(flag, err)
	}
	return v
}
