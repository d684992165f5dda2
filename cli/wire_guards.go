package cli

// This file puts the guards of a run together with the stores that their state
// is in.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/store"
)

// gateOf is the gate of a run whose guards have a key.
func gateOf(o *option.Options, environ []string, tell func(event.Event)) *admission.Gate {
	if o.Rehearsal != nil {
		return privateGate(o, engine.System{}, tell)
	}
	name := o.Name
	if name == "" {
		name = engine.NameOf(o.Command)
	}
	return newGate(&o.Guarding, fmt.Sprintf("%s (pid %d)", name, os.Getpid()), environ, tell)
}

// newGate is the gate for a holder of slots.
func newGate(w *option.Guarding, holder string, environ []string, tell func(event.Event)) *admission.Gate {
	var g *admission.Gate
	note := func(name string) func(string) { return func(line string) { g.Note(name, line) } }
	host, name := hostStore(environ)
	if host != nil {
		host.Warn, host.Holder = note(name), holder
	}
	c := &admission.Config{
		Key: w.Key, Guards: w.Guards, Closed: w.Closed, Timeout: w.Timeout, Clock: engine.System{}, Random: rand.Uint64, Emit: tell,
	}
	switch {
	case w.Address == nil && host == nil:
		c.Primary = admission.Named{Store: store.Unusable{Err: errNoHome}, Name: "of this host"}
	case w.Address == nil:
		c.Primary = admission.Named{Store: host, Name: name}
	default:
		c.Primary = admission.Named{Store: store.Open(w.Address, hostName(), note(w.Address.Name)), Name: w.Address.Name}
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

// hostStore is the default store of the host, nil where no variable says where it
// is (the XDG Base Directory Specification; a path there that is not absolute
// counts as unset).
func hostStore(environ []string) (*store.File, string) {
	get := func(name string) string {
		path := ""
		for _, entry := range environ {
			if value, is := strings.CutPrefix(entry, name+"="); is {
				path = value
			}
		}
		if !filepath.IsAbs(path) {
			return ""
		}
		return path
	}
	dir := get("XDG_STATE_HOME")
	if home := get("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".local", "state")
	}
	if dir == "" && runtime.GOOS == "windows" {
		dir = get("LocalAppData")
	}
	if dir == "" {
		return nil, ""
	}
	dir = filepath.Join(dir, "retry")
	return store.NewFile(dir, hostName()), "file:" + dir
}

// hostName names the folder of this host.
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}
