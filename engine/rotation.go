package engine

// This file chooses the values that the words of the attempts take (docs/rotation.md),
// and shares with other runs which of them failed.

import (
	"context"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/engine/text"
)

// failedElsewhere asks before each attempt which values failed for other runs. It returns
// how the run ends, nil if it goes on.
func (e *Engine) failedElsewhere(ctx context.Context) *Decision {
	if e.Gate == nil || len(e.Policy.Rotate) == 0 {
		return nil
	}
	var failed []bool
	if signal := e.during(ctx, func(ctx context.Context) { failed = e.Gate.FailedLately(ctx, e.rotation.Values()) }); signal != "" {
		return new(CancelledBy(signal))
	}
	e.rotation.SetFailedElsewhere(failed)
	return nil
}

// takeValues takes the values of the attempt or copy that starts now, and sets them in
// which, without secrets.
func (e *Engine) takeValues(which *event.Which) rotate.Use {
	use := e.rotation.Take()
	which.Use = use.ByName()
	for name, value := range which.Use {
		which.Use[name] = text.MaskedArgs([]string{"--" + name, value})[1]
	}
	return use
}

// putValues ends the use of values, and shares a failure with other runs.
func (e *Engine) putValues(use rotate.Use, failed bool) {
	e.rotation.Put(use, failed)
	if use == nil || !failed || e.Gate == nil {
		return
	}
	e.Gate.Failed(use.Values())
}
