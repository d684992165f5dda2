package option

// This file resolves copies of an attempt (docs/hedging.md).

import (
	"math"
	"time"
)

// hedging resolves --hedge, --hedge-max and --rotate.
func (r *resolver) hedging() {
	if r.o.Given("hedge") {
		r.o.Policy.HedgeDelay, r.o.Policy.HedgeMax = time.Duration(r.Hedge), 1+int(r.HedgeMax)
		r.refuse("hedge-max", r.HedgeMax == math.MaxInt32, "%q is more than %d", r.o.last("hedge-max").Value,
			math.MaxInt32-1)
	}
	r.refuse("hedge-max", !r.o.Given("hedge") && r.typed("hedge-max"),
		"is valid with --hedge only, which says when a copy starts")
	r.rotation()
}
