package simulate

// This file is the model of an outage: all clients fail at the same moment, and
// come back to one server by their policy.

import (
	"math"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/guard"
)

// Outage is a server and what happens to it. All clients make their first call
// at 0, which fails at once. Any other call that begins before Down is over
// fails after AttemptTime. From then on each admitted call takes 1/Capacity of
// the server, first come, first served, and ends AttemptTime after it began to
// be served.
type Outage struct {
	// Clients is at least 1.
	Clients int
	// Capacity is in calls a second, above 0.
	Capacity float64
	// Down is the duration of the outage, from time 0.
	Down time.Duration
	// AttemptTime is how long a call takes that waits for nothing.
	AttemptTime time.Duration
	// Queue is the longest that a call may wait to be served; one that would
	// wait longer is rejected: it takes nothing from the server, and fails after
	// AttemptTime.
	Queue time.Duration
}

// Herd is what came of all clients.
type Herd struct {
	Outage Outage
	// Finished clients got their answer, at FinishedAt from 0, in order. GaveUp
	// had no attempt or no time left, Refused were stopped by a guard. LeftOut
	// were still at it when the simulation ended, at End.
	Finished, GaveUp, Refused, LeftOut int
	FinishedAt                         []time.Duration
	// RefusedBy says which guards refused how many.
	RefusedBy map[string]int
	End       time.Duration
	// Calls are all calls, the first ones included; Load has them by when they
	// began, where there were any.
	Calls int
	Load  []Tenth
	// PeakDown and PeakBack are the greatest numbers of calls begun in a tenth
	// of a second, times ten, before the server is back and from then on. The
	// first calls are not in them.
	PeakDown, PeakBack int
}

// Tenth is a tenth of a second in which calls began.
type Tenth struct {
	// At counts tenths of a second from 0.
	At    int
	Calls int
}

// tenth is what a peak is taken over.
const tenth = time.Second / 10

// A simulation ends after mostCalls calls for each of its clients, or after
// leastCalls where that is more, and at Horizon: unlimited attempts would go on
// for ever, and a load of more seconds fits no page.
const (
	mostCalls  = 20
	leastCalls = 5_000_000
	// Horizon is the end of time.
	Horizon = 100 * 24 * time.Hour
)

// Quantile is when a share of the clients that finish had done so, the last of
// them for 1; false where none does.
func (h *Herd) Quantile(share float64) (time.Duration, bool) {
	if h.Finished == 0 {
		return 0, false
	}
	rank := int(math.Ceil(share * float64(h.Finished)))
	return h.FinishedAt[min(max(rank, 1), h.Finished)-1], true
}

// BestPossible is when the last client would be done if the server had been
// busy from the end of the outage on, and with nothing else.
func (o *Outage) BestPossible() time.Duration {
	return backoff.Add(o.Down, backoff.FromFloat(float64(o.Clients)/o.Capacity*float64(time.Second)))
}

// What happens to a client.
const (
	begins       action = iota // its wait is over
	ends                       // its call has ended
	slotTimesOut               // it has waited for a slot for long enough
	leaseRenews                // it renews a lease; who is then a ticker
)

// client is one run of the program.
type client struct {
	state  engine.State
	begun  time.Duration
	result callResult
}

// callResult is the result of a call.
type callResult uint8

const (
	succeeds callResult = iota
	fails
	timesOut
	pastDeadline
)

// herd is a simulation under way.
type herd struct {
	Herd
	policy  engine.Policy
	draw    func() float64
	clients []client
	agenda  agenda
	guarded *guarded // nil where no guard is named
	// idle is when the server has done all that it has admitted, in nanoseconds.
	idle float64
	// peak is the tenth of a second that Load ends with, split at the end of the
	// outage.
	peak Tenth
}

// moment is a time of the simulation as the engine counts it.
func moment(at time.Duration) time.Time { return time.Unix(0, int64(at)) }

// Run follows the clients, each under policy p and all under the guards g, until
// none is left or the simulation has to end. Every number that draw returns is
// uniform in [0, 1).
func (o Outage) Run(p engine.Policy, g guard.Guards, draw func() float64) Herd {
	return o.run(p, g, draw, max(leastCalls, mostCalls*o.Clients))
}

// run is Run with a limit of calls.
func (o Outage) run(p engine.Policy, g guard.Guards, draw func() float64, limit int) Herd {
	// What a call comes to is the server's, whatever the rules make of a real
	// command's result.
	p.Rules, p.Consecutive, p.UntilFailure = engine.Rules{}, 0, false
	h := &herd{Herd: Herd{Outage: o, RefusedBy: map[string]int{}}, policy: p, draw: draw, clients: make([]client, o.Clients)}
	if g.Any() {
		h.guard(g)
	}
	first := engine.State{Attempt: 1, Step: 1, Previous: p.Schedule.First()}
	if p.Deadline > 0 {
		first.Deadline = moment(p.Deadline)
	}
	for i := range h.clients {
		h.clients[i] = client{state: first, result: fails}
		if h.admit(0, int32(i)) {
			h.count(0)
			h.agenda.enter(0, int32(i), ends)
		}
	}
	for !h.agenda.empty() && h.Calls < limit {
		now := h.agenda.next()
		if now.at > Horizon {
			break
		}
		h.End = now.at
		h.happen(now)
	}
	h.Finished = len(h.FinishedAt)
	h.LeftOut = o.Clients - h.Finished - h.GaveUp - h.Refused
	return h.Herd
}

// happen lets one thing happen.
func (h *herd) happen(now entry) {
	switch now.what {
	case begins:
		if h.admit(now.at, now.who) {
			h.call(now.at, now.who)
		}
	case ends:
		h.end(now.at, now.who)
	case slotTimesOut:
		h.endSlotWait(now.at, now.who)
	case leaseRenews:
		h.guarded.clock.tick(now.who)
	}
}

// count counts a call.
func (h *herd) count(at time.Duration) {
	h.Calls++
	t := int(at / tenth)
	if n := len(h.Load); n == 0 || h.Load[n-1].At != t {
		h.Load = append(h.Load, Tenth{At: t})
	}
	h.Load[len(h.Load)-1].Calls++
}

// call makes a call.
func (h *herd) call(now time.Duration, who int32) {
	h.count(now)
	c := &h.clients[who]
	took := h.serve(now, c)
	if t := h.policy.Timeout; t > 0 && took > t {
		c.result, took = timesOut, t
	}
	if d := h.policy.Deadline; d > 0 && took > d-now {
		c.result, took = pastDeadline, d-now
	}
	c.begun = now
	h.agenda.enter(backoff.Add(now, took), who, ends)
}

// serve says what the server makes of a call, and how long that takes.
func (h *herd) serve(now time.Duration, c *client) time.Duration {
	o := &h.Outage
	c.result = fails
	if now < o.Down {
		h.PeakDown = max(h.PeakDown, h.rush(now, 2*int(now/tenth)))
		return o.AttemptTime
	}
	h.PeakBack = max(h.PeakBack, h.rush(now, 2*int(now/tenth)+1))
	served := max(float64(now), h.idle)
	waits := served - float64(now)
	if waits > float64(o.Queue) {
		return o.AttemptTime
	}
	h.idle = served + float64(time.Second)/o.Capacity
	c.result = succeeds
	return backoff.Add(backoff.FromFloat(waits), o.AttemptTime)
}

// rush counts a call into its tenth of a second, and returns how many that is a
// second. What is before the end of the outage and what is after it do not mix.
func (h *herd) rush(now time.Duration, part int) int {
	if h.peak.At != part {
		h.peak = Tenth{At: part}
	}
	h.peak.Calls++
	return h.peak.Calls * int(time.Second/tenth)
}

// end judges a call that has ended, as a run does.
func (h *herd) end(now time.Duration, who int32) {
	c := &h.clients[who]
	r := attempt.Result{Duration: now - c.begun}
	switch c.result {
	case pastDeadline:
		r.DeadlinePassed = true
	case fails, timesOut:
		r.TimedOut = true // which every policy retries
	}
	d := engine.Decide(&h.policy, c.state, r, engine.Evidence{}, moment(now), h.draw())
	r.TimedOut = c.result == timesOut
	goesOn := h.report(now, who, &d, r)
	switch {
	case goesOn:
		c.state = d.Next
		h.agenda.enter(backoff.Add(now, d.Wait), who, begins)
	case d.Retry: // a guard refused
	case d.Accepted:
		h.FinishedAt = append(h.FinishedAt, now)
		h.leave(now, who, true)
	default:
		h.GaveUp++
		h.leave(now, who, false)
	}
}
