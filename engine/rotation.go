package engine

// This file keeps which values the words of the attempts take (SPEC section
// 14).

import (
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/rotate"
)

// rotation is where the rotated names stand; its zero value is for a run
// without.
type rotation struct {
	*rotate.Rotation
	next rotate.Use // of the attempt to come, once somebody has asked for it
}

func (r *rotation) begin(lists []rotate.List, draw func() float64) {
	if len(lists) > 0 {
		r.Rotation = rotate.New(lists, draw)
	}
}

// coming returns the values of the attempt to come.
func (r *rotation) coming() rotate.Use {
	if r.next == nil && r.Rotation != nil {
		r.next = r.Take(nil)
	}
	return r.next
}

// take returns the values of the attempt or copy that starts now, and notes them
// in which.
func (e *Engine) take(which *event.Which) rotate.Use {
	use := e.rotation.coming()
	e.rotation.next = nil
	which.Use = use.ByName()
	return use
}
