package cli

// This file puts the guards of a run together with the stores that their state is in,
// registers the run for the modes that look at it from outside (docs/status.md), and
// gives these modes what they need of the system.

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/status"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/engine/store"
)

// gate is the gate of a run whose guards have a key.
func (w *wiring) gate() (g *admission.Gate) {
	o, where := w.o, w.o.Guarding.Address
	if o.Rehearsal != nil {
		return privateGate(o, nil, w.e.GateEvent)
	}
	note := func(name string) func(string) { return func(line string) { g.Note(name, line) } }
	holder := fmt.Sprintf("%s (pid %d)", cmp.Or(o.Name, engine.NameOf(o.Command)), os.Getpid())
	host, name := hostStore()
	if host != nil {
		host.Warn, host.Holder = note(name), holder
	}
	c := &admission.Config{
		Key: o.Guarding.Key, Guards: o.Guarding.Guards, Closed: o.Guarding.Closed, Timeout: o.Guarding.Timeout,
		Random: rand.Uint64, Emit: w.e.GateEvent,
	}
	switch {
	case where == nil && host == nil:
		c.Primary = admission.Named{Store: store.Unusable{Err: errNoHome}, Name: "of this host"}
	case where == nil:
		c.Primary = admission.Named{Store: host, Name: name}
	default:
		c.Primary = admission.Named{Store: store.Open(where, hostName(), note(where.Name)), Name: where.Name}
		if host != nil {
			c.Host, c.Health = admission.Named{Store: host, Name: name}, host
		}
	}
	if f, ok := c.Primary.Store.(*store.File); ok {
		f.Holder = holder
	}
	g = admission.New(c)
	return g
}

var errNoHome = errors.New("neither XDG_STATE_HOME nor HOME names a directory for the state; give --store")

// hostStore is the default store of the host, nil where no variable says where it is
// (XDG Base Directory Specification).
func hostStore() (*store.File, string) {
	absolute := func(variable string) string { // any other path counts as unset
		if path := os.Getenv(variable); filepath.IsAbs(path) {
			return path
		}
		return ""
	}
	dir := absolute("XDG_STATE_HOME")
	if home := absolute("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".local", "state")
	}
	if dir == "" && runtime.GOOS == "windows" {
		dir = absolute("LocalAppData")
	}
	if dir == "" {
		return nil, ""
	}
	dir = filepath.Join(dir, "retry")
	return store.NewFile(dir, hostName()), "file:" + dir
}

// hostName names the folder of this host.
func hostName() string {
	name, _ := os.Hostname()
	return cmp.Or(name, "localhost")
}

// register adds the run's record. It is the first sink, so that the record is up to
// date before the run reports anything.
func (w *wiring) register() *registry.Record {
	record := &registry.Record{
		Places: func() []registry.Place { return registry.Places(os.LookupEnv) },
		Named:  w.o.Name != "",
		Note:   w.out.note,
	}
	if !w.letter.goesOn() {
		record.Targets = len(w.o.Targets)
	}
	w.out.sinks = slices.Insert(w.out.sinks, 0, record.Emit)
	w.signals.Mine(record.TakeMark)
	return record
}

func showStatus(c mode.Call) int { return status.Show(c, openStore) }
func reset(c mode.Call) int      { return status.Reset(c, openStore) }
func wake(c mode.Call) int       { return status.Wake(c, proc.SignalTo) }
func cancel(c mode.Call) int     { return status.Cancel(c, proc.SignalTo) }

// openStore opens the store at an address, "" for that of the host.
func openStore(address string, warn func(string)) (status.Store, error) {
	if address != "" {
		a, err := store.ParseAddress(address)
		return store.Open(&a, hostName(), warn), err
	}
	host, _ := hostStore()
	if host == nil {
		return nil, errNoHome
	}
	host.Warn = warn
	return host, nil
}
