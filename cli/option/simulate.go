package option

// This file resolves what --simulate follows (docs/simulation.md).

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/simulate"
)

// simulation is what --simulate was asked for.
type simulation struct {
	Outage simulate.Outage
	// Herds are followed through the outage, one after another. Names are the
	// policies that are compared with them.
	Herds []herdPolicy
	Names []string
	// Rivals are the numbers of clients that race for one row, one after another.
	Rivals []int
}

// herdPolicy is a policy of many runs.
type herdPolicy struct {
	Name   string
	Policy engine.Policy
	Guards guard.Guards
}

// Limits of a simulation, by memory and by time: mostWork, in squares of clients
// times trials, is half a minute of one processor.
const (
	mostRivals                 = 1_000
	mostWork                   = 300_000_000
	mostCompared               = 8
	outageOnly, contentionOnly = "is valid with --simulate outage only", "is valid with --simulate contention only"
)

// simulation resolves the section on simulation.
func (r *resolver) simulation() {
	s := &simulation{}
	switch r.Simulate {
	case "outage":
		r.outage(s)
	case "contention":
		r.contention(s)
	default:
		return
	}
	r.Simulation = s
}

func (r *resolver) outage(s *simulation) {
	r.without([]string{"trials"}, contentionOnly)
	s.Outage = simulate.Outage{
		Clients: r.Clients, Capacity: float64(r.Capacity), Down: r.Outage, AttemptTime: r.AttemptTime, Queue: r.Queue,
	}
	s.Herds = []herdPolicy{{r.Policy.Schedule.Jitter.String(), r.Policy, r.Guards}}
	switch {
	case !r.Given("compare"):
	case r.Compare == "jitter":
		s.Herds = r.herds("jitter", []string{"none", "10%", "equal", "full", "decorrelated"})
	case r.Compare == "backoff" && r.Given("delays"):
		r.fail("compare", errors.New(`"backoff" cannot be used with --delays, which replaces --backoff`))
	case r.Compare == "backoff":
		s.Herds = r.herds("backoff", []string{"exponential", "linear", "constant", "fibonacci"})
	default:
		s.Herds[0].Name = "given"
		s.Names = r.names()
	}
}

// contention limits the time of a simulation, which grows with the square of the clients
// and with the trials.
func (r *resolver) contention(s *simulation) {
	r.without(outageFlags, outageOnly)
	squares, among := 0, "10 to 190 clients"
	for n := 10; n <= 190; n += 10 {
		s.Rivals = append(s.Rivals, n)
		squares += n * n
	}
	if r.Given("clients") {
		r.refuse("clients", r.Clients > mostRivals, "%q is not a whole number from 1 to %d", r.last("clients").Value, mostRivals)
		s.Rivals, squares, among = []int{r.Clients}, r.Clients*r.Clients, strconv.Itoa(r.Clients)+" clients"
	}
	most := mostWork / max(squares, 1)
	r.refuse("trials", r.Trials > most, "\"%d\" trials of %s take minutes; give at most %d", r.Trials, among, most)
}

// outageFlags have no meaning for a contention.
var outageFlags = []string{"capacity", "outage", "attempt-time", "queue", "compare", "svg"}

// without refuses flags that have no meaning here.
func (r *resolver) without(flags []string, why string) {
	for _, flag := range flags {
		r.refuse(flag, r.Given(flag), "%s", why)
	}
}

// names reads names of policies, separated by commas.
func (r *resolver) names() []string {
	names := strings.Split(r.Compare, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		r.refuse("compare", names[i] == "", "%q is not jitter, backoff, or names of policies such as ci,deploy", r.Compare)
	}
	r.refuse("compare", len(names) > mostCompared, "%d policies are more than %d, the most that a plot can show", len(names), mostCompared)
	return names
}

// herds resolves the given flags once for each value of one flag.
func (r *resolver) herds(name string, values []string) (herds []herdPolicy) {
	for _, value := range values {
		h, err := Herd(append(slices.Clone(r.Settings), Setting{Flag: ByName(name), Value: value, Word: "--compare", Source: FromCommandLine}), value)
		herds = append(herds, h)
		r.err = cmp.Or(r.err, err)
	}
	return herds
}

// Herd resolves the policy of a simulation.
func Herd(settings []Setting, name string) (herdPolicy, error) {
	r := alone(settings)
	r.policy()
	r.guards()
	return herdPolicy{name, r.Policy, r.Guards}, r.err
}
