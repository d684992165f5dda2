package cli

// This file puts the guards of a run together with the stores that their state is in,
// and registers the run for the modes that look at it from outside (docs/status.md).

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/status"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/engine/store"
)

// admission is that of a run whose guards have a key.
func (w *wiring) admission() *admission.Config {
	o := w.o
	if o.Rehearse != nil {
		return privateAdmission(o)
	}
	c := &admission.Config{
		Key: string(o.Key), Guards: o.Guards, Closed: o.Closed, Timeout: time.Duration(o.StoreTimeout),
		Random: rand.Uint64, Notes: make(chan event.Event, 10),
	}
	open := func(a *store.Address) admission.Named {
		s := store.Open(a, func(line string) {
			select {
			case c.Notes <- &event.StoreFailed{Store: a.Name, Reason: line}:
			default: // enough was said
			}
		})
		if f, ok := s.(*store.File); ok {
			f.Holder = cmp.Or(string(o.Name), engine.NameOf(o.Command))
		}
		return admission.Named{Store: s, Name: a.Name}
	}
	switch host, err := store.OfHost(); {
	case o.Store == nil && err != nil:
		c.Primary = admission.Named{Store: &store.File{Err: err}, Name: "of this host"}
	case o.Store == nil:
		c.Primary = open(&host)
	default:
		c.Primary = open(o.Store)
		if err == nil {
			c.Host = open(&host)
		}
	}
	return c
}

// register adds the run's record. It is the first sink, so that the record is up to
// date before the run reports anything.
func (w *wiring) register() *registry.Record {
	record := &registry.Record{
		Run:    &w.out.run,
		Places: func() []registry.Place { return registry.Places(os.LookupEnv) },
		Named:  w.o.Name != "",
		Detail: w.out.detail,
	}
	if !w.letter.goesOn() {
		record.Targets = len(w.o.Targets)
	}
	w.out.sinks = slices.Insert(w.out.sinks, 0, record.Emit)
	w.out.signals.SetOwnSignal(record.TakeWakeMark)
	return record
}

func reach() mode.Mode { return &status.Reach{Common: mode.Defaults(), Send: proc.SignalTo} }
