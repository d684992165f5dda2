package proc

// This file makes the runner an attempt.Starter.

import (
	"context"

	"github.com/retrysh/retry/engine/attempt"
)

// handle is one attempt of a Runner, which runs in Wait.
type handle struct {
	runner *Runner
	ctx    context.Context
	spec   attempt.Spec
}

// Start prepares one attempt.
func (r *Runner) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	return &handle{runner: r, ctx: ctx, spec: spec}
}

// Wait runs it.
func (h *handle) Wait() attempt.Result { return h.runner.Run(h.ctx, h.spec) }

// Settle takes the verdict.
func (h *handle) Settle(released bool) error { return h.runner.Settle(released) }

// Drop forgets the output of the attempt.
func (h *handle) Drop() {
	for _, out := range h.runner.held {
		out.drop()
	}
	h.runner.held = nil
	_ = h.runner.Settle(false) // nothing is left to be written
}
