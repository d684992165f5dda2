package status

// This file shows and resets what the guards of a key know (docs/guards.md).

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/store"
	"github.com/retrysh/retry/exitcodes"
)

// storeFlags say where the state of guards is.
type storeFlags struct {
	Store        option.Text
	StoreTimeout option.Above0
}

// ofStore are the flags of the store if nothing sets them.
func ofStore() storeFlags { return storeFlags{StoreTimeout: option.Above0(250 * time.Millisecond)} }

// open opens the store, that of the host if none is named. Its warnings go to standard
// error.
func (g *storeFlags) open(c *mode.Common) (guard.Store, error) {
	a, err := store.OfHost()
	if g.Store != "" {
		if a, err = store.ParseAddress(string(g.Store)); err != nil {
			err = fmt.Errorf("--store: %w", err)
		}
	}
	return store.Open(&a, c.Warn), err
}

// ask calls the store for a key, within the time that it may take.
func (g *storeFlags) ask(key string, call func(ctx context.Context, key string) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(g.StoreTimeout))
	defer cancel()
	if err := call(ctx, key); err != nil {
		return fmt.Errorf("key %q: %w", key, err)
	}
	return nil
}

// guards returns what is known of the keys. Keys of which nothing is known are left out.
func (g *Status) guards(s guard.Store) ([]guard.Status, error) {
	known := []guard.Status{}
	guards := guard.Guards{Breaker: g.Breaker, Budget: g.Budget, Tokens: g.Tokens, RateLimit: g.RateLimit}
	for _, key := range g.Key {
		err := g.ask(string(key), func(ctx context.Context, key string) error {
			state, err := s.Look(ctx, key)
			if state != nil && err == nil {
				known = append(known, state.Status(key, &guards))
			}
			return err
		})
		if err != nil {
			return known, err
		}
	}
	return known, nil
}

func guardRows(all []guard.Status, now time.Time) [][]string {
	turns := slices.ContainsFunc(all, func(s guard.Status) bool { return s.RateLimit.NextIn > 0 })
	head := []string{"KEY", "BREAKER", "BUDGET", "TOKENS", "SLOTS", "LAST ATTEMPTS"}
	if turns {
		head = append(head, "NEXT TURN")
	}
	table := [][]string{head}
	for i := range all {
		s := &all[i]
		attempts := "-"
		if s.Adaptive.Outcomes > 0 {
			attempts = fmt.Sprintf("%d of %d succeeded", s.Adaptive.Successes, s.Adaptive.Outcomes)
		}
		budget := "-"
		if s.Budget != nil {
			budget = fmt.Sprintf("%d of %d", s.Budget.Used, s.Budget.Of)
		}
		tokens := fmt.Sprintf("%g missing", s.Tokens.Missing)
		if s.Tokens.Left != nil {
			tokens = fmt.Sprintf("%g left, %s", *s.Tokens.Left, tokens)
		}
		row := []string{s.Key, breakerCell(s, now), budget, tokens, fmt.Sprintf("%d held", s.Slots.Held), attempts}
		if turns {
			row = append(row, turnCell(s))
		}
		table = append(table, row)
	}
	return table
}

func turnCell(s *guard.Status) string {
	if s.RateLimit.NextIn == 0 {
		return "now"
	}
	return "in " + (time.Duration(s.RateLimit.NextIn) * time.Millisecond).String()
}

func breakerCell(s *guard.Status, now time.Time) string {
	b := &s.Breaker
	parts := []string{strings.ReplaceAll(b.State, "_", "-")}
	if b.OpenUntil != nil {
		parts[0] += " until " + clock(b.OpenUntil, now)
	}
	if b.Failures != nil && b.Outcomes != nil {
		parts = append(parts, fmt.Sprintf("%d of %d failed", *b.Failures, *b.Outcomes))
	}
	if b.Row > 0 {
		parts = append(parts, fmt.Sprintf("%d in a row", b.Row))
	}
	return strings.Join(parts, ", ")
}

// Reset is --reset.
type Reset struct {
	mode.Common
	storeFlags
}

// NewReset returns --reset with its defaults.
func NewReset() *Reset { return &Reset{Common: mode.Defaults(), storeFlags: ofStore()} }

// Run has guards forget what they know.
func (g *Reset) Run() int {
	if len(g.Words) == 0 {
		return g.Usage(errors.New("needs a key: the --key of the guards that are to forget"))
	}
	s, err := g.open(&g.Common)
	if err != nil {
		return g.Usage(err)
	}
	code, reset := exitcodes.OK, []string{}
	for _, key := range g.Words {
		err := g.ask(string(key), func(ctx context.Context, key string) error {
			_, _, err := s.Do(ctx, key, new(guard.Guards), &guard.Request{Op: guard.Reset})
			return err
		})
		if err != nil {
			code = g.Fail(err)
			continue
		}
		reset = append(reset, key)
		if !g.Quiet && !g.JSON() {
			g.Print("reset " + message.Printable(key) + "\n")
		}
	}
	if g.JSON() {
		return g.PrintJSON(code, map[string]any{"reset": reset})
	}
	return code
}
