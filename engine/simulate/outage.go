// Package simulate simulates many clients at once: an outage of a server of limited
// capacity, and a race for one row.
//
// The clients use engine.Decide, the schedules of backoff and the guards through admission,
// as runs of the program do; a heap of events drives them. The package is pure: random
// numbers are an argument.
package simulate

// This file is the model of an outage: all clients fail at the same moment, and
// call one server again by their policy.

import (
	"math"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/text"
)

// Outage describes a server and its outage. The first call of each client fails at time 0, any
// other that begins before Down after AttemptTime. Then each accepted call takes 1/Capacity of
// the server, first come, first served, and ends AttemptTime after its service began.
type Outage struct {
	Clients     int           // at least 1
	Capacity    float64       // in calls per second, above 0
	Down        time.Duration // of the outage, from time 0
	AttemptTime time.Duration // of a call that does not wait for the server
	// Queue is the longest wait for the server. A call that would wait longer is rejected:
	// it uses no capacity, and fails after AttemptTime.
	Queue time.Duration
}

// Herd is the result for all clients, with the names of --simulate in JSON.
type Herd struct {
	// Name is the caller's.
	Name    string `json:"name"`
	Clients int    `json:"clients"`
	// Finished clients succeeded, at FinishedAt from 0, in order. GaveUp had no
	// attempt or no time left, Refused were ended by a guard. LeftOut were still
	// running when the simulation ended, at End.
	Finished   int             `json:"finished"`
	GaveUp     int             `json:"gave_up"`
	Refused    int             `json:"refused"`
	LeftOut    int             `json:"left_out,omitempty"`
	FinishedAt []time.Duration `json:"-"`
	RefusedBy  map[string]int  `json:"-"` // refusals by guard
	// OutOfTime are those of GaveUp that the deadline ended.
	OutOfTime int           `json:"-"`
	End       time.Duration `json:"-"`
	// Calls is the number of all calls.
	Calls     int     `json:"calls"`
	CallsEach float64 `json:"calls_per_client"`
	// PeakDown and PeakBack are the greatest rates, in calls a second over a tenth of one,
	// during the outage and after it, without the first calls.
	PeakDown int `json:"peak_down_per_s"`
	PeakBack int `json:"peak_back_per_s"`
	// P50, P99 and Last are when these shares of the finished had finished; nil if none has.
	P50  *text.MS `json:"p50_ms"`
	P99  *text.MS `json:"p99_ms"`
	Last *text.MS `json:"last_ms"`
	// BestPossible is when the last client would finish if the server used its full
	// capacity after the outage for successful calls.
	BestPossible text.MS `json:"best_possible_ms"`
	// Load has the calls by the second in which they began, Tenths by the tenth of a
	// second, without empty tenths.
	Load   []int   `json:"load"`
	Tenths []Tenth `json:"-"`
	Outage Outage  `json:"-"`
}

// Tenth is a tenth of a second in which calls began. That in which the outage ends is two.
type Tenth struct {
	// At counts tenths of a second from 0.
	At    int
	Down  bool // during the outage
	Calls int
}

// tenth is the time over which a peak is taken.
const tenth = time.Second / 10

// A simulation ends after mostCalls calls for each client, or after leastCalls if that is
// more, and at Horizon: unlimited attempts would never end.
const (
	mostCalls  = 20
	leastCalls = 5_000_000
	Horizon    = 100 * 24 * time.Hour
)

// Quantile is the time by which a share of the finished clients had finished; nil if none has.
func (h *Herd) Quantile(share float64) *text.MS {
	if h.Finished == 0 {
		return nil
	}
	rank := int(math.Ceil(share * float64(h.Finished)))
	return new(text.MS(h.FinishedAt[min(max(rank, 1), h.Finished)-1]))
}

// What happens to a client: its wait is over, its wait for a slot has reached its limit,
// or its call has ended.
const (
	begins action = iota
	slotTimesOut
	succeeds
	fails
	timesOut
	pastDeadline
)

// client is one run of the program.
type client struct {
	state engine.State
	begun time.Duration
	gate  *admission.Gate // nil if no guard is named
	pass  *admission.Pass
	until time.Duration // the end of its wait for a slot, 0 if it does not wait
}

// herd is a simulation under way.
type herd struct {
	Herd
	policy  engine.Policy
	draw    func() float64
	clients []client
	agenda  agenda
	// idle is when the server has done all that it has accepted, in nanoseconds.
	idle   float64
	guards guards
}

// epoch is when a simulation begins, in milliseconds since the Unix epoch: a
// multiple of every usual window of the guards.
const epoch = 1_800_000_000_000

// moment is a time of the simulation for the engine and the guards.
func moment(at time.Duration) time.Time { return time.UnixMilli(epoch).Add(at) }

// Run simulates the clients, each under policy p and all under the guards g, until none is left
// or the simulation has to end. Every number that draw returns is uniform in [0, 1).
func (o Outage) Run(p engine.Policy, g guard.Guards, draw func() float64) Herd {
	return o.run(p, g, draw, max(leastCalls, mostCalls*o.Clients))
}

// run is Run with a limit of calls.
func (o Outage) run(p engine.Policy, g guard.Guards, draw func() float64, limit int) Herd {
	// The model alone gives the result of a call, without the rules on the output
	// and exit code of a command.
	p.Rules = engine.Rules{}
	p.Consecutive = 0
	p.UntilFailure = false
	h := &herd{
		Herd: Herd{Outage: o, RefusedBy: map[string]int{}}, policy: p, draw: draw, clients: make([]client, o.Clients),
	}
	first := client{state: p.First()}
	if p.Deadline > 0 {
		first.state.Deadline = moment(p.Deadline)
	}
	gate := h.guards.begin(g, func() time.Time { return moment(h.End) })
	for i := range h.clients {
		h.clients[i] = first
		h.clients[i].gate = gate()
		if h.admit(0, int32(i)) {
			h.count(0)
			h.agenda.enter(0, int32(i), fails)
		}
	}
	begun := h.Calls
	for len(h.agenda.heap) > 0 && h.Calls < limit {
		now := h.agenda.next()
		if now.at > Horizon {
			break
		}
		h.End = now.at
		switch now.what {
		case begins:
			h.begin(now.at, now.who)
		case slotTimesOut:
			h.endSlotWait(now.at, now.who)
		default:
			h.end(now.at, now.who, now.what)
		}
	}
	h.sum(begun)
	return h.Herd
}

// sum sets the figures that follow from others. So many calls began before time 0.
func (h *Herd) sum(first int) {
	o := &h.Outage
	h.Clients = o.Clients
	h.Finished = len(h.FinishedAt)
	h.LeftOut = o.Clients - h.Finished - h.GaveUp - h.Refused
	h.CallsEach = float64(h.Calls) / float64(o.Clients)
	h.P50 = h.Quantile(0.5)
	h.P99 = h.Quantile(0.99)
	h.Last = h.Quantile(1)
	h.BestPossible = text.MS(backoff.Add(o.Down, backoff.FromFloat(float64(o.Clients)/o.Capacity*float64(time.Second))))
	h.Load = make([]int, h.seconds())
	for _, t := range h.Tenths {
		h.Load[t.At/10] += t.Calls
		peak := &h.PeakBack
		if t.Down {
			peak = &h.PeakDown
		}
		*peak = max(*peak, (t.Calls-first)*int(time.Second/tenth))
		first = 0
	}
}

// seconds is how many seconds begin up to the last call; 0 if none was made.
func (h *Herd) seconds() int {
	if len(h.Tenths) == 0 {
		return 0
	}
	return h.Tenths[len(h.Tenths)-1].At/10 + 1
}

// begin makes a call, if the guards admit it.
func (h *herd) begin(now time.Duration, who int32) {
	if h.admit(now, who) {
		h.call(now, who)
	}
}

func (h *herd) count(now time.Duration) {
	h.Calls++
	at, down := int(now/tenth), now < h.Outage.Down
	if n := len(h.Tenths); n == 0 || h.Tenths[n-1].At != at || h.Tenths[n-1].Down != down {
		h.Tenths = append(h.Tenths, Tenth{At: at, Down: down})
	}
	h.Tenths[len(h.Tenths)-1].Calls++
}

func (h *herd) call(now time.Duration, who int32) {
	h.count(now)
	result, took := h.serve(now)
	if t := h.policy.Timeout; t > 0 && took > t {
		result, took = timesOut, t
	}
	if d := h.policy.Deadline; d > 0 && took > d-now {
		result, took = pastDeadline, d-now
	}
	h.clients[who].begun = now
	h.agenda.enter(backoff.Add(now, took), who, result)
}

// serve returns the result of a call and how long it takes.
func (h *herd) serve(now time.Duration) (result action, took time.Duration) {
	o := &h.Outage
	served := max(float64(now), h.idle)
	waits := served - float64(now)
	if now < o.Down || waits > float64(o.Queue) {
		return fails, o.AttemptTime
	}
	h.idle = served + float64(time.Second)/o.Capacity
	return succeeds, backoff.Add(backoff.FromFloat(waits), o.AttemptTime)
}

// end decides what follows a call that has ended, as a run does. A breaker that its result
// has changed may end waits for a slot.
func (h *herd) end(now time.Duration, who int32, result action) {
	c := &h.clients[who]
	// Every policy retries what has timed out.
	r := attempt.Result{
		Duration: now - c.begun, DeadlinePassed: result == pastDeadline,
		TimedOut: result == fails || result == timesOut,
	}
	d := engine.Decide(&h.policy, c.state, r, engine.Evidence{}, moment(now), h.draw())
	h.guards.changed = false
	c.pass.Report(d.Counts)
	h.wake(now, h.guards.changed)
	switch {
	case d.Retry && h.permit(now, c, result == timesOut):
		c.state = d.Next
		h.agenda.enter(backoff.Add(now, d.Jittered), who, begins)
	case d.Retry: // a guard refused
	case d.Accepted:
		h.FinishedAt = append(h.FinishedAt, now)
		h.leave(now, c, true)
	default:
		if d.Outcome == event.Deadline {
			h.OutOfTime++
		}
		h.giveUp(now, c)
	}
}

func (h *herd) giveUp(now time.Duration, c *client) {
	h.GaveUp++
	h.leave(now, c, false)
}
