package simulate

// This file holds the kinds of jitter against the published model of clients that race for
// one row, and the agenda against a sort.
//
// The model is aws-arch-backoff-simulator (src/backoff_simulator.py, 2015), the source of
// the figures in the AWS Architecture Blog's "Exponential Backoff And Jitter": optimistic
// concurrency control. A client reads the version of the row and writes the row; the write
// succeeds if the version is still the same. Each of the four network hops takes
// |N(10, 2)| ms. A failed write is followed by a wait of base 5 ms and cap 2 s.

import (
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/backoff"
)

// rival is how the clients of a race wait after a failed write. That named none retries
// at once, exponential has no jitter.
type rival struct {
	Name     string
	Schedule backoff.Schedule
}

const (
	contentionBase = 5 * time.Millisecond
	contentionCap  = 2 * time.Second
	hopMean        = 10 * time.Millisecond
	hopDeviation   = 2 * time.Millisecond
)

// rivals are the kinds of waiting that the model compares. Its exponential
// delay is min(cap, base x 2^n): the first is twice the base.
func rivals() []rival {
	of := func(name string, base time.Duration, kind backoff.JitterKind) rival {
		return rival{name, backoff.Schedule{Curve: backoff.Exponential(2), Base: base, Cap: contentionCap,
			Jitter: backoff.Jitter{Kind: kind}}}
	}
	return []rival{
		of("none", 0, backoff.None),
		of("exponential", contentionBase, backoff.None),
		of("full", contentionBase, backoff.Full),
		of("equal", contentionBase, backoff.Equal),
		of("decorrelated", contentionBase, backoff.Decorrelated),
	}
}

// race is the mean result of several trials: the time until the last client is done, in
// milliseconds, and the number of writes, failed ones included.
type race struct{ timeMS, calls float64 }

// racer is one client: the version that it has read, how many of its writes have failed, and
// its last wait.
type racer struct {
	version, failed int
	previous        time.Duration
}

// What reaches the server. There are two hops between them: the client takes no time.
const (
	reads action = iota
	writes
)

// contend simulates trials races of so many clients.
func (r *rival) contend(clients, trials int, random *rand.Rand) race {
	hop := func() time.Duration {
		return time.Duration(math.Abs(float64(hopMean) + float64(hopDeviation)*random.NormFloat64()))
	}
	elapsed, calls, all, events := 0.0, 0, make([]racer, clients), agenda{}
	for range trials {
		for i := range all {
			all[i] = racer{previous: r.Schedule.Base}
			events.enter(hop(), int32(i), reads)
		}
		version, end := 0, time.Duration(0)
		for len(events.heap) > 0 {
			now := events.next()
			c := &all[now.who]
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
	return race{elapsed / float64(trials) / float64(time.Millisecond), float64(calls) / float64(trials)}
}

var allCells = flag.Bool("all", false, "compare the races of all 19 numbers of clients: a minute")

// measured is a row of testdata/herd.json: the original run 3,000 times a cell.
type measured struct {
	Clients int
	Jitter  string
	TimeMS  float64 `json:"time_ms"`
	Calls   float64
}

func measurements(t *testing.T) []measured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "herd.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []measured }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 95 {
		t.Fatalf("%d cells", len(file.Rows))
	}
	return file.Rows
}

// A mean of 1,000 trials is within 3 % of the measurements in every cell, which
// is more than three standard deviations; the seed is fixed all the same.
func TestContentionIsTheOriginals(t *testing.T) {
	clients := []int{10, 50}
	for i, want := range measurements(t) {
		if !*allCells && !slices.Contains(clients, want.Clients) {
			continue
		}
		kinds := rivals()
		r := kinds[slices.IndexFunc(kinds, func(r rival) bool { return r.Name == want.Jitter })]
		trials := 1000
		if testing.Short() {
			trials = 100
		}
		got := r.contend(want.Clients, trials, rand.New(rand.NewPCG(1, uint64(i))))
		time, calls := got.timeMS/want.TimeMS-1, got.calls/want.Calls-1
		if limit := 0.03 * math.Sqrt(1000/float64(trials)); math.Abs(time) > limit || math.Abs(calls) > limit {
			t.Errorf("%d clients, %s: %.1f ms and %.1f calls, %+.1f %% and %+.1f %% off", want.Clients, want.Jitter,
				got.timeMS, got.calls, 100*time, 100*calls)
		}
	}
}

func TestOneClientHasNoRival(t *testing.T) {
	for _, r := range rivals() {
		if got := r.contend(1, 1000, rand.New(rand.NewPCG(1, 0))); got.calls != 1 || math.Abs(got.timeMS-40) > 1 {
			t.Errorf("%s: %+v", r.Name, got)
		}
	}
}

func TestAgendaIsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var a agenda
	var want []entry
	for i := range 5000 {
		if i%3 == 2 {
			slices.SortFunc(want, func(x, y entry) int {
				if x.before(&y) {
					return -1
				}
				return 1
			})
			if got := a.next(); got != want[0] {
				t.Fatalf("%+v comes before %+v", got, want[0])
			}
			want = want[1:]
			continue
		}
		at := time.Duration(r.IntN(300))
		a.enter(at, int32(i), writes)
		want = append(want, entry{at, a.entered, int32(i), writes})
	}
}
