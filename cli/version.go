package cli

// This file says what build this is, from what the Go tool records in every
// binary: nothing has to be handed to the linker, and go install, go build in
// a clone and a release say the same of the same source.

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/retrysh/retry/cli/option"
)

// origin is what the Go tool recorded. commit and date are empty where it was
// not built in a clone; version is "(devel)" where it had no tag to go by.
type origin struct {
	version, commit, date string
}

func originOf() origin {
	b := origin{version: "(devel)"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value
		case "vcs.time":
			b.date = s.Value
		}
	}
	return b
}

// printVersion writes version, commit, date, Go and platform on one line.
func printVersion(w io.Writer, _ *option.Options) error {
	b := originOf()
	if b.commit == "" {
		b.commit = "unknown commit"
	}
	if b.date == "" {
		b.date = "unknown date"
	}
	_, err := fmt.Fprintf(w, "retry %s (%s, %s) %s %s/%s\n", b.version, b.commit, b.date, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
