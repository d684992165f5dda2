package cli

// This file puts a rehearsal in place of the command.

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/rehearse"
)

// rehearsing returns a starter whose attempts pretend.
func rehearsing(o *option.Options, real attempt.Starter, signals engine.Signals) *rehearse.Starter {
	return &rehearse.Starter{
		Steps: o.Rehearsal.Steps, Real: real, Draw: draw(o, 1), Number: proc.NumberOf,
		Stdout:    rehearse.Output{Open: opener(o.Rehearsal.Stdout), To: os.Stdout, Rejected: os.Stderr, Held: o.Process.Stdout == proc.Hold},
		Stderr:    rehearse.Output{Open: opener(o.Rehearsal.Stderr), To: os.Stderr, Rejected: os.Stderr, Held: o.Process.Stderr == proc.Hold},
		Cancelled: signals.Cancelled, Catch: signals.Notify, Clock: engine.System{},
	}
}

// opener opens a file anew for each attempt, nil where there is none.
func opener(name string) func() (io.ReadCloser, error) {
	if name == "" {
		return nil
	}
	return func() (io.ReadCloser, error) { return os.Open(name) }
}

// readRehearsed proves that what attempts shall write can be read. It is called
// before signals are caught, since a pipe may keep it waiting.
func readRehearsed(o *option.Options) error {
	if o.Rehearsal == nil {
		return nil
	}
	for _, f := range []struct {
		flag string
		name *string
	}{{"--rehearse-stdout", &o.Rehearsal.Stdout}, {"--rehearse-stderr", &o.Rehearsal.Stderr}} {
		if *f.name == "" {
			continue
		}
		info, err := os.Stat(*f.name)
		switch {
		case err != nil:
		case info.IsDir():
			err = fmt.Errorf("%q is a directory", *f.name)
		case !info.Mode().IsRegular() && *f.name != os.DevNull:
			err = fmt.Errorf("%q is not a regular file, and each attempt reads it from its first byte", *f.name)
		default:
			var file *os.File
			if file, err = os.Open(*f.name); err == nil {
				err = file.Close()
			}
		}
		if err != nil {
			return option.Usage(f.flag, err)
		}
	}
	return nil
}

// privateGate is the gate of a rehearsal: the guards of the run, asked of a state
// that no other run shares.
func privateGate(o *option.Options, clock engine.Clock, tell func(event.Event)) *admission.Gate {
	return admission.New(&admission.Config{
		Key: o.Guarding.Key, Guards: o.Guarding.Guards, Clock: clock, Random: rand.Uint64, Emit: tell,
		Primary: admission.Named{Store: &admission.Memory{Clock: clock}, Name: "rehearsal"},
	})
}
