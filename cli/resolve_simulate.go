package cli

// This file resolves what --simulate follows (SPEC section 19).

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/simulate"
)

// simulation is what --simulate was asked for.
type simulation struct {
	contention bool
	outage     simulate.Outage
	// clients of contention, 0 for all numbers; trials of each.
	clients, trials int
	// herds are followed through the outage, one after another. names are the
	// policies that come beside them.
	herds []herdPolicy
	names []string
	svg   string
}

// herdPolicy is one policy that many runs have.
type herdPolicy struct {
	name   string
	policy engine.Policy
	guards guard.Guards
}

// What a simulation can hold in memory, and end in the time that somebody waits
// for it. A call of a server takes at least a nanosecond. mostWork, in squares of
// clients times trials, is half a minute of one processor.
const (
	mostClients                = 1_000_000
	mostRivals                 = 1_000
	mostTrials                 = 100_000
	mostWork                   = 300_000_000
	leastCapacity              = 0.001
	mostCapacity               = 1e9
	mostCompared               = 8
	outageOnly, contentionOnly = "goes with --simulate outage only", "goes with --simulate contention only"
)

// simulation resolves the section on simulation; settings are all that were
// given.
func (r *resolver) simulation(table []flag, settings []setting, o *options) *simulation {
	g := r.g
	if !r.given("simulate") {
		for _, given := range settings {
			if name := given.flag.name; name == "trials" || name == "clients" || slices.Contains(outageFlags, name) {
				r.fail(name, errors.New("goes with --simulate only"))
			}
		}
		return nil
	}
	s := &simulation{contention: r.oneOf("simulate", g.Simulate) == "contention", svg: g.Svg}
	if s.contention {
		r.without(outageFlags, outageOnly)
		if r.given("clients") {
			s.clients = r.number("clients", g.Clients, mostRivals)
		}
		s.trials = r.number("trials", g.Trials, mostTrials)
		r.work(s)
		return s
	}
	r.without([]string{"trials"}, contentionOnly)
	r.fileName("svg", g.Svg)
	s.outage = simulate.Outage{
		Clients: r.number("clients", g.Clients, mostClients), Capacity: r.capacity(g.Capacity), Down: r.duration("outage", g.Outage),
		AttemptTime: r.duration("attempt-time", g.AttemptTime), Queue: r.duration("queue", g.Queue),
	}
	s.herds = []herdPolicy{{jitterName(o.policy.Schedule.Jitter), o.policy, o.guarding.guards}}
	switch {
	case !r.given("compare"):
	case g.Compare == "jitter":
		s.herds = r.herds(table, settings, "jitter", []string{"none", "10%", "equal", "full", "decorrelated"})
	case g.Compare == "backoff" && r.given("delays"):
		r.fail("compare", errors.New(`"backoff" goes without --delays, which replaces --backoff`))
	case g.Compare == "backoff":
		s.herds = r.herds(table, settings, "backoff", []string{"exponential", "linear", "constant", "fibonacci"})
	default:
		s.herds[0].name = "given"
		s.names = r.names(g.Compare)
	}
	return s
}

// work bounds how long a contention takes: with the square of the clients, since
// each is in the way of each other one, and with the trials.
func (r *resolver) work(s *simulation) {
	squares, among := 0, "10 to 190 clients"
	for _, n := range s.rivals() {
		squares += n * n
	}
	if s.clients > 0 {
		among = strconv.Itoa(s.clients) + " " + verb(s.clients, "client", "clients")
	}
	if most := mostWork / max(squares, 1); s.trials > most {
		r.fail("trials", fmt.Errorf("\"%d\" trials of %s take minutes; give at most %d", s.trials, among, most))
	}
}

// outageFlags belong to an outage, and mean nothing to a race.
var outageFlags = []string{"capacity", "outage", "attempt-time", "queue", "compare", "svg"}

// without refuses flags that mean nothing here.
func (r *resolver) without(flags []string, why string) {
	for _, flag := range flags {
		if r.given(flag) {
			r.fail(flag, errors.New(why))
		}
	}
}

// number reads a whole number from 1 on.
func (r *resolver) number(flag, value string, most int) int {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil || n < 1 || n > uint64(most) {
		r.fail(flag, fmt.Errorf("%q is not a whole number from 1 to %d", value, most))
	}
	return int(n)
}

// capacity reads a number of calls a second, as in 100 or 100/s.
func (r *resolver) capacity(value string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(value, "/s"), 64)
	if err != nil || !(n >= leastCapacity && n <= mostCapacity) {
		r.fail("capacity", fmt.Errorf("%q is not a number of calls a second from %v to %d, such as 100", value, leastCapacity, int(mostCapacity)))
	}
	return n
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
		r.fail("compare", fmt.Errorf("%d policies are more than %d, which is as many as can be told apart", len(names), mostCompared))
	}
	return names
}

// herds resolves what was given again for each value of one flag.
func (r *resolver) herds(table []flag, settings []setting, name string, values []string) (herds []herdPolicy) {
	for _, value := range values {
		changed := append(slices.Clone(settings), setting{flag: byName(table, name), value: value, word: "--compare", source: fromCommandLine})
		other := newResolver(table, changed)
		herds = append(herds, other.herd(value))
		if r.err == nil {
			r.err = other.err
		}
	}
	return herds
}

// jitterName is how a jitter is asked for.
func jitterName(j backoff.Jitter) string {
	for _, name := range []string{"full", "equal", "decorrelated", "none"} {
		if named, _ := backoff.ParseJitter(name); named == j {
			return name
		}
	}
	return strconv.FormatFloat(j.P, 'g', -1, 64) + "%"
}

// compare resolves the policies that are put side by side, each by itself: what
// was given does not change them. Without any, the policy in force gives its
// name.
func (s *simulation) compare(table []flag, environ []string, given []setting, command []string, inForce string) error {
	if len(s.herds) == 1 && len(s.names) == 0 && inForce != "" {
		s.herds[0].name = inForce
	}
	for _, name := range s.names {
		asked := setting{flag: byName(table, "policy"), value: name, word: "--compare", source: fromCommandLine}
		chosen, err := choosePolicy(table, environ, append(slices.Clone(given), asked), command)
		if err != nil {
			return err
		}
		simulated := setting{flag: byName(table, "simulate"), value: "outage", word: "--simulate"}
		r := newResolver(table, append(slices.Clone(chosen.settings), simulated))
		s.herds = append(s.herds, r.herd(name))
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// herd resolves what a simulation looks at.
func (r *resolver) herd(name string) herdPolicy {
	h := herdPolicy{name: name}
	r.policy(&h.policy)
	h.guards = r.guarding().guards
	return h
}
