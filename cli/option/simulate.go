package option

// This file resolves what --simulate follows (docs/simulation.md).

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/simulate"
)

// simulation is what --simulate was asked for.
type simulation struct {
	Contention bool
	Outage     simulate.Outage
	// clients of contention, 0 for all numbers; trials of each.
	clients, Trials int
	// Herds are followed through the outage, one after another. Names are the
	// policies that are compared with them.
	Herds []herdPolicy
	Names []string
	Svg   string
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
	mostClients                = 1_000_000
	mostRivals                 = 1_000
	mostTrials                 = 100_000
	mostWork                   = 300_000_000
	mostCompared               = 8
	outageOnly, contentionOnly = "is valid with --simulate outage only", "is valid with --simulate contention only"
)

// simulation resolves the section on simulation.
func (r *resolver) simulation(o *Options) *simulation {
	g := r.g
	if g.Simulate == "" {
		return nil
	}
	s := &simulation{Contention: g.Simulate == "contention", Svg: string(g.Svg)}
	if s.Contention {
		r.without(outageFlags, outageOnly)
		if r.given("clients") {
			if s.clients = int(g.Clients); s.clients > mostRivals {
				r.fail("clients", fmt.Errorf("%q is not a whole number from 1 to %d", r.last("clients").Value, mostRivals))
			}
		}
		s.Trials = int(g.Trials)
		r.work(s)
		return s
	}
	r.without([]string{"trials"}, contentionOnly)
	s.Outage = simulate.Outage{
		Clients: int(g.Clients), Capacity: float64(g.Capacity), Down: g.Outage,
		AttemptTime: g.AttemptTime, Queue: g.Queue,
	}
	s.Herds = []herdPolicy{{o.Policy.Schedule.Jitter.String(), o.Policy, o.Guarding.Guards}}
	switch {
	case !r.given("compare"):
	case g.Compare == "jitter":
		s.Herds = r.herds("jitter", []string{"none", "10%", "equal", "full", "decorrelated"})
	case g.Compare == "backoff" && r.given("delays"):
		r.fail("compare", errors.New(`"backoff" cannot be used with --delays, which replaces --backoff`))
	case g.Compare == "backoff":
		s.Herds = r.herds("backoff", []string{"exponential", "linear", "constant", "fibonacci"})
	default:
		s.Herds[0].Name = "given"
		s.Names = r.names(g.Compare)
	}
	return s
}

// work limits the time of a contention, which grows with the square of the clients
// and with the trials.
func (r *resolver) work(s *simulation) {
	squares, among := 0, "10 to 190 clients"
	for _, n := range s.Rivals() {
		squares += n * n
	}
	if s.clients > 0 {
		among = strconv.Itoa(s.clients) + " clients"
	}
	if most := mostWork / max(squares, 1); s.Trials > most {
		r.fail("trials", fmt.Errorf("\"%d\" trials of %s take minutes; give at most %d", s.Trials, among, most))
	}
}

// outageFlags have no meaning for a contention.
var outageFlags = []string{"capacity", "outage", "attempt-time", "queue", "compare", "svg"}

// without refuses flags that have no meaning here.
func (r *resolver) without(flags []string, why string) {
	for _, flag := range flags {
		if r.given(flag) {
			r.fail(flag, errors.New(why))
		}
	}
}

// names reads names of policies, separated by commas.
func (r *resolver) names(list string) []string {
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if names[i] == "" {
			r.fail("compare", fmt.Errorf("%q is not jitter, backoff, or names of policies such as ci,deploy", list))
		}
	}
	if len(names) > mostCompared {
		r.fail("compare", fmt.Errorf("%d policies are more than %d, the most that a plot can show", len(names), mostCompared))
	}
	return names
}

// herds resolves the given flags once for each value of one flag.
func (r *resolver) herds(name string, values []string) (herds []herdPolicy) {
	table := Table()
	for _, value := range values {
		h, err := Herd(table, append(slices.Clone(r.settings), Setting{Flag: ByName(table, name), Value: value, Word: "--compare", Source: FromCommandLine}), value)
		herds = append(herds, h)
		if r.err == nil {
			r.err = err
		}
	}
	return herds
}

// Herd resolves the policy of a simulation.
func Herd(table []Flag, settings []Setting, name string) (herdPolicy, error) {
	g, err := Fill(table, settings)
	if err != nil {
		return herdPolicy{}, err
	}
	h, r := herdPolicy{Name: name}, &resolver{g: g, settings: settings, partial: true}
	r.policy(&h.Policy)
	h.Guards = r.guards()
	return h, r.err
}

// Rivals are the numbers of clients that race, one after another.
func (s *simulation) Rivals() (numbers []int) {
	if s.clients > 0 {
		return []int{s.clients}
	}
	for n := 10; n <= 190; n += 10 {
		numbers = append(numbers, n)
	}
	return numbers
}
