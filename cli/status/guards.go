package status

// This file shows and resets what the guards of a key know (docs/guards.md).

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/store"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// storeFlags say where the state of guards is.
type storeFlags struct {
	Store        string   `variable:"yes"`
	StoreTimeout duration `default:"250ms" variable:"yes"`
}

// open opens the store, that of the host where none is named. Its warnings go to standard
// error.
func (g *storeFlags) open(c *mode.Call) (store.Store, error) {
	a, err := store.OfHost()
	if g.Store != "" {
		if a, err = store.ParseAddress(g.Store); err != nil {
			err = fmt.Errorf("--store: %w", err)
		}
	}
	return store.Open(&a, c.Complain), err
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
func (f *Flags) guards(s store.Store) ([]guard.Status, error) {
	known := []guard.Status{}
	guards := guard.Guards{Breaker: f.Breaker, Budget: f.Budget, Tokens: f.Tokens}
	for _, key := range f.Key {
		err := f.ask(key, func(ctx context.Context, key string) error {
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
	table := [][]string{{"KEY", "BREAKER", "BUDGET", "TOKENS", "SLOTS", "LAST ATTEMPTS"}}
	for i := range all {
		s := &all[i]
		budget, tokens, attempts := "-", fmt.Sprintf("%g missing", s.Tokens.Missing), "-"
		if s.Adaptive.Outcomes > 0 {
			attempts = fmt.Sprintf("%d of %d succeeded", s.Adaptive.Successes, s.Adaptive.Outcomes)
		}
		if s.Budget != nil {
			budget = fmt.Sprintf("%d of %d", s.Budget.Used, s.Budget.Of)
		}
		if s.Tokens.Left != nil {
			tokens = fmt.Sprintf("%g left, %s", *s.Tokens.Left, tokens)
		}
		table = append(table, []string{
			s.Key, breakerCell(s, now), budget, tokens, fmt.Sprintf("%d held", s.Slots.Held), attempts,
		})
	}
	return table
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

// ResetFlags is the grammar of --reset.
type ResetFlags struct {
	mode.Common
	storeFlags
	Keys []string `arg:"" optional:"" name:"key"`
}

// Reset is --reset.
func Reset(c mode.Call) int {
	var g ResetFlags
	if err := mode.Parse(c, &g); err != nil {
		return c.Usage(err)
	}
	if len(g.Keys) == 0 {
		return c.Usage(errors.New("needs a key: the --key of the guards that are to forget"))
	}
	s, err := g.open(&c)
	if err != nil {
		return c.Usage(err)
	}
	code, reset := exitcodes.OK, []string{}
	for _, key := range g.Keys {
		if err := g.ask(key, s.Reset); err != nil {
			code = c.Fail(err)
			continue
		}
		reset = append(reset, key)
	}
	return c.Print(code, func(w *os.File) error {
		if g.JSON() {
			return text.WriteJSON(w, map[string]any{"reset": reset})
		}
		for _, key := range reset {
			if g.Quiet {
				break
			}
			if _, err := fmt.Fprintf(w, "reset %s\n", message.Printable(key)); err != nil {
				return err
			}
		}
		return nil
	})
}

// duration is a time that is not 0.
type duration time.Duration

func (d *duration) UnmarshalText(text []byte) error {
	v, err := backoff.ParseDuration(string(text))
	if err == nil && v == 0 {
		err = fmt.Errorf("%q leaves no time", text)
	}
	*d = duration(v)
	return err
}
