package proc

// This file keeps the output of the last attempt for the end of the run.

import (
	"errors"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
)

// Keep keeps the output of an attempt in place of that of the one before.
func (r *Runner) Keep(k attempt.Kept) {
	r.drop()
	r.kept = k
}

func (r *Runner) drop() {
	if r.kept != nil {
		r.kept.Drop()
		r.kept = nil
	}
}

// EndOutput ends the run's output: what was kept is written if the run has given up. The
// error is attempt.ErrReaderGone if standard output has no reader.
func (r *Runner) EndOutput(gaveUp bool) error {
	defer r.drop()
	if r.kept == nil || !gaveUp {
		return nil
	}
	k := r.kept
	r.kept = nil
	return k.Release()
}

// kept is the output of an attempt that is kept for the end of the run.
type kept struct {
	*Runner
	output interface { // *stdio.Kept
		Release(isEnding func() bool) error
		Drop()
	}
}

// Release writes it. A reader that was given up is told of.
func (k *kept) Release() error {
	signals.Ending.Add(1)
	defer signals.Ending.Add(-1)
	err := k.output.Release(k.signals.IsEnding)
	if errors.Is(err, stdio.ErrStuck) {
		k.warning.say(err.Error())
		k.warning.flush()
		return nil
	}
	return err
}

func (k *kept) Drop() { k.output.Drop() }
