package simulate

// This file is the model of aws-arch-backoff-simulator (src/backoff_simulator.py,
// 2015), the source of the figures in the AWS Architecture Blog's "Exponential Backoff
// And Jitter": clients that race for one row under optimistic concurrency control. A
// client reads the version of the row and writes the row; the write succeeds if the
// version is still the same. Each of the four network hops takes |N(10, 2)| ms. A
// failed write is followed by a wait of base 5 ms and cap 2 s.

import (
	"math"
	"time"

	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/text"
)

// Random draws random numbers; math/rand/v2's Rand is one.
type Random interface {
	Float64() float64     // uniform in [0, 1)
	NormFloat64() float64 // normal, mean 0, standard deviation 1
}

// Rival is how the clients of a race wait after a failed write. That named none retries
// at once, exponential has no jitter.
type Rival struct {
	Name     string
	Schedule backoff.Schedule
}

const (
	contentionBase = 5 * time.Millisecond
	contentionCap  = 2 * time.Second
	hopMean        = 10 * time.Millisecond
	hopDeviation   = 2 * time.Millisecond
)

// Rivals are the kinds of waiting that the model compares. Its exponential
// delay is min(cap, base x 2^n): the first is twice the base.
func Rivals() []Rival {
	rival := func(name string, base time.Duration, kind backoff.JitterKind) Rival {
		return Rival{name, backoff.Schedule{Curve: backoff.Exponential(2), Base: base, Cap: contentionCap, Jitter: backoff.Jitter{Kind: kind}}}
	}
	return []Rival{
		rival("none", 0, backoff.None),
		rival("exponential", contentionBase, backoff.None),
		rival("full", contentionBase, backoff.Full),
		rival("equal", contentionBase, backoff.Equal),
		rival("decorrelated", contentionBase, backoff.Decorrelated),
	}
}

// Race is the mean result of several trials: the time until the last client is done, and the
// number of writes, failed ones included. The names are those of --simulate in JSON.
type Race struct {
	Clients int     `json:"clients"`
	Jitter  string  `json:"jitter"`
	Time    text.MS `json:"time_ms"`
	Calls   float64 `json:"calls"`
}

// rival is one client: the version that it has read, how many of its writes have failed, and
// its last wait.
type rival struct {
	version, failed int
	previous        time.Duration
}

// What reaches the server. There are two hops between them: the client takes no time.
const (
	reads action = iota
	writes
)

// Contend simulates trials races of so many clients.
func (r *Rival) Contend(clients, trials int, random Random) Race {
	hop := func() time.Duration {
		return time.Duration(math.Abs(float64(hopMean) + float64(hopDeviation)*random.NormFloat64()))
	}
	elapsed, calls, rivals, events := 0.0, 0, make([]rival, clients), agenda{}
	for range trials {
		for i := range rivals {
			rivals[i] = rival{previous: r.Schedule.Base}
			events.enter(hop(), int32(i), reads)
		}
		version, end := 0, time.Duration(0)
		for len(events.heap) > 0 {
			now := events.next()
			c := &rivals[now.who]
			if now.what == reads {
				c.version = version
				events.enter(now.at+hop()+hop(), now.who, writes)
				continue
			}
			calls++
			answered := now.at + hop()
			if c.version == version {
				version++
				end = max(end, answered)
				continue
			}
			c.failed++
			c.previous = r.Schedule.Wait(c.failed+1, c.previous, random.Float64())
			events.enter(answered+c.previous+hop(), now.who, reads)
		}
		elapsed += float64(end)
	}
	return Race{clients, r.Name, text.MS(math.Round(elapsed / float64(trials))), float64(calls) / float64(trials)}
}
