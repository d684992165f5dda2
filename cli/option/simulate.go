package option

// This file resolves what --simulate follows (docs/simulation.md).

import (
	"errors"
	"slices"
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
}

// herdPolicy is a policy of many runs.
type herdPolicy struct {
	Name   string
	Policy engine.Policy
	Guards guard.Guards
}

// mostCompared is how many policies a plot can show.
const mostCompared = 8

// simulation resolves the section on simulation.
func (r *resolver) simulation() {
	if r.Simulate == "" {
		return
	}
	s := &simulation{Outage: simulate.Outage{
		Clients: int(r.Clients), Capacity: float64(r.Capacity), Down: r.Outage, AttemptTime: r.AttemptTime,
		Queue: r.Queue,
	}}
	r.o.Simulation = s
	s.Herds = []herdPolicy{{r.o.Policy.Schedule.Jitter.String(), r.o.Policy, r.o.Guards}}
	switch {
	case !r.o.Given("compare"):
	case r.Compare == "jitter":
		s.Herds = r.herds("jitter", []string{"none", "10%", "equal", "full", "decorrelated"})
	case r.Compare == "backoff" && r.o.Given("delays"):
		r.fail("compare", errors.New(`"backoff" cannot be used with --delays, which replaces --backoff`))
	case r.Compare == "backoff":
		s.Herds = r.herds("backoff", []string{"exponential", "linear", "constant", "fibonacci"})
	default:
		s.Herds[0].Name = "given"
		s.Names = r.names()
	}
}

// names reads names of policies, separated by commas.
func (r *resolver) names() []string {
	names := strings.Split(string(r.Compare), ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		r.refuse("compare", names[i] == "", "%q is not jitter, backoff, or names of policies such as ci,deploy",
			r.Compare)
	}
	r.refuse("compare", len(names) > mostCompared, "%d policies are more than %d, the most that a plot can show",
		len(names), mostCompared)
	return names
}

// herds resolves the given flags once for each value of one flag.
func (r *resolver) herds(name string, values []string) (herds []herdPolicy) {
	for _, value := range values {
		h, err := Herd(append(slices.Clone(r.o.Settings),
			Setting{Flag: ByName(name), Value: value, Word: "--compare", Source: FromCommandLine}), value)
		herds = append(herds, h)
		if r.err == nil {
			r.err = err
		}
	}
	return herds
}

// Herd resolves the policy of a simulation.
func Herd(settings []Setting, name string) (herdPolicy, error) {
	r := resolverOf(settings)
	r.policy()
	r.guards()
	return herdPolicy{name, r.o.Policy, r.o.Guards}, r.err
}
