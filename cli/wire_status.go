package cli

// This file registers a run for those who look at it from outside (docs/status.md),
// and gives the modes that reach it a way to signal it.

import (
	"os"
	"slices"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/cli/status"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/engine/store"
)

// register adds the run's record. It is the first sink, so that the record is up to date
// before the run reports anything.
func (out *output) register(o *option.Options, letter *redriven, signals *proc.Signals) *registry.Record {
	record := &registry.Record{
		Places: func() []registry.Place { return registry.Places(os.LookupEnv) },
		Named:  o.Name != "",
		Note:   out.note,
	}
	if !letter.goesOn() {
		record.Targets = len(o.Targets)
	}
	out.sinks = slices.Insert(out.sinks, 0, engine.Sink(record))
	signals.Mine(record.TakeMark)
	return record
}

func showStatus(c mode.Call) int { return status.Show(c, storeOpener(c.Environ)) }
func reset(c mode.Call) int      { return status.Reset(c, storeOpener(c.Environ)) }
func wake(c mode.Call) int       { return status.Wake(c, proc.SignalTo) }
func cancel(c mode.Call) int     { return status.Cancel(c, proc.SignalTo) }

func storeOpener(environ []string) status.Open {
	return func(address string, warn func(string)) (status.Store, error) {
		if address != "" {
			a, err := store.ParseAddress(address)
			return store.Open(&a, hostName(), warn), err
		}
		host, _ := hostStore(environ)
		if host == nil {
			return nil, errNoHome
		}
		host.Warn = warn
		return host, nil
	}
}
