package engine

// This file checks the values of the words in the attempts of a run.

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/rotate"
)

func TestEachAttemptHasTheNextValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit1, exit1, exit0)
		e.Argv = []string{"curl", "{M}:{P}"}
		for _, text := range []string{"M=a,b", "P=1,2,3"} {
			l, err := rotate.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			e.Policy.Rotate = append(e.Policy.Rotate, l)
		}
		e.Run(context.Background())
		var words []string
		for _, spec := range s.specs {
			words = append(words, strings.Join(spec.Argv, " "))
		}
		if want := []string{"curl a:1", "curl b:2", "curl a:3"}; !slices.Equal(words, want) {
			t.Errorf("the attempts ran %q, not %q", words, want)
		}
		if started := r.events[1].(*event.AttemptStarted); started.Use["M"] != "a" || started.Use["P"] != "1" {
			t.Errorf("started: %+v", started.Which)
		}
	})
}
