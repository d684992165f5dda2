package cli

// This file puts a rehearsal in place of the command.

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/retrysh/retry/cli/input"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/engine/rehearse"
)

// rehearsing returns a starter whose attempts are rehearsed.
func rehearsing(o *option.Options, real *proc.Runner, signals engine.Signals) *rehearse.Starter {
	output := func(name string, to *os.File, mode stdio.OutputMode) rehearse.Output {
		out := rehearse.Output{Direct: to}
		switch mode {
		case stdio.Hold:
			out = rehearse.Output{Released: to, Rejected: os.Stderr}
		case stdio.OnFailure:
			out = rehearse.Output{Kept: to}
		}
		if name != "" { // it is opened anew for each attempt
			out.Open = func() (io.ReadCloser, error) { return os.Open(name) }
		}
		return out
	}
	return &rehearse.Starter{
		Steps: rehearse.Steps(o.Rehearse), Real: real, Draw: draw(o, 1),
		Stdout:  output(string(o.RehearseStdout), os.Stdout, o.Process.Stdout),
		Stderr:  output(string(o.RehearseStderr), os.Stderr, o.Process.Stderr),
		Signals: signals, Keep: real.Keep,
	}
}

// checkRehearsed checks that each attempt can read what it writes from the first byte.
func checkRehearsed(o *option.Options) error {
	if o.Rehearse == nil {
		return nil
	}
	for _, output := range []struct {
		flag string
		file string
	}{
		{"--rehearse-stdout", string(o.RehearseStdout)},
		{"--rehearse-stderr", string(o.RehearseStderr)},
	} {
		if output.file == "" {
			continue
		}
		if err := checkReadable(output.file); err != nil {
			return option.Usage(output.flag, err)
		}
	}
	return nil
}

// checkReadable checks that a file can be read again and again.
func checkReadable(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	err = input.Regular(name, info)
	switch {
	case err != nil && !info.IsDir():
		return fmt.Errorf("%w, and each attempt reads it from its first byte", err)
	case err != nil:
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	return file.Close()
}

// privateAdmission is that of a rehearsal: the state of its guards is shared with no other run.
func privateAdmission(o *option.Options) *admission.Config {
	return &admission.Config{
		Key: string(o.Key), Guards: o.Guards, Random: rand.Uint64,
		Primary: admission.Named{Store: &admission.Memory{}, Name: "rehearsal"},
	}
}
