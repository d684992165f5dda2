package engine

// This file checks how a run shares which values of its words have failed.

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/rotate"
)

// others are the other runs.
type others struct {
	openGate
	failed []string
	takes  time.Duration
	asked  int
	shared []string
}

func (g *others) FailedLately(ctx context.Context, values []string) []bool {
	g.asked++
	select {
	case <-time.After(g.takes):
	case <-ctx.Done():
		return nil
	}
	var failed []bool
	for _, v := range values {
		failed = append(failed, slices.Contains(g.failed, v))
	}
	return failed
}

func (g *others) Failed(values []string) { g.shared = append(g.shared, strings.Join(values, " ")) }

func rotating(t *testing.T, e *Engine, g *others, words string, lists ...string) {
	t.Helper()
	e.Argv, e.Gate = strings.Fields(words), g
	for _, text := range lists {
		l, err := rotate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		e.Policy.Rotate = append(e.Policy.Rotate, l)
	}
}

func TestValuesThatFailedForOthersComeLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newEngine(exit1, exit1, exit0)
		g := &others{failed: []string{"M=a", "P=2"}}
		rotating(t, e, g, "curl {M}:{P}", "M=a,b", "P=1,2,3")
		e.Run(context.Background())
		var words []string
		for _, spec := range s.specs {
			words = append(words, spec.Argv[1])
		}
		if !slices.Equal(words, []string{"b:1", "a:3", "b:2"}) {
			t.Errorf("the attempts ran %v", words)
		}
		if g.asked != 3 || !slices.Equal(g.shared, []string{"M=b P=1", "M=a P=3"}) {
			t.Errorf("asked %d times, shared %q", g.asked, g.shared)
		}
		if started := r.events[1].(*event.AttemptStarted); started.Use["M"] != "b" || started.Use["P"] != "1" {
			t.Errorf("started: %+v", started.Which)
		}
	})
}

// A signal does not wait for the answer.
func TestSignalWhileOthersAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newEngine(exit0)
		rotating(t, e, &others{takes: time.Hour}, "curl {M}", "M=a,b")
		cancelled := make(chan attempt.Signal, 1)
		e.Signals.Cancelled = cancelled
		time.AfterFunc(20*time.Millisecond, func() { cancelled <- "SIGINT" })
		begun := time.Now()
		end := e.Run(context.Background())
		if end.Signal != "SIGINT" || len(s.started) != 0 || time.Since(begun) != 20*time.Millisecond || r.last().Outcome != event.Cancelled {
			t.Errorf("ended with %+v after %v", end, time.Since(begun))
		}
	})
}

// Without names the gate is not asked, and without a gate the list is taken
// in order.
func TestNoValuesAreAskedForWithoutNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _, _ := newEngine(exit1)
		g := &others{}
		e.Gate = g
		e.Run(context.Background())
		if g.asked != 0 || g.shared != nil {
			t.Errorf("asked %d times, shared %q", g.asked, g.shared)
		}
	})
}
