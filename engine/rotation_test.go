package engine

// This file checks how a run shares which values of its words have failed.

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/rotate"
)

// numbers are those by which a store knows values.
func numbers(values ...string) (all []int64) {
	for _, v := range values {
		h := fnv.New64a()
		h.Write([]byte(v))
		all = append(all, int64(h.Sum64()>>11))
	}
	return all
}

func rotating(t *testing.T, e *Engine, g *shop, words string, lists ...string) {
	t.Helper()
	e.Argv, e.Gate = strings.Fields(words), g.gate()
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
		g := &shop{others: numbers("M=a", "P=2")}
		rotating(t, e, g, "curl {M}:{P}", "M=a,b", "P=1,2,3")
		e.Run(context.Background())
		var words []string
		for _, spec := range s.specs {
			words = append(words, spec.Argv[1])
		}
		if !slices.Equal(words, []string{"b:1", "a:3", "b:2"}) {
			t.Errorf("the attempts ran %v", words)
		}
		if g.looks != 3 || len(g.values) != 2 || !slices.Equal(g.values[0], numbers("M=b", "P=1")) || !slices.Equal(g.values[1], numbers("M=a", "P=3")) {
			t.Errorf("asked %d times, shared %v", g.looks, g.values)
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
		rotating(t, e, &shop{takes: time.Hour}, "curl {M}", "M=a,b")
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
		g := new(shop)
		e.Gate = g.gate()
		e.Run(context.Background())
		if g.looks != 0 || g.values != nil {
			t.Errorf("asked %d times, shared %v", g.looks, g.values)
		}
	})
}
