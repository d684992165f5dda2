package cli

// This file prints what build this is, from what the linker recorded.

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// printVersion writes version, commit, date, Go and platform on one line.
func printVersion(w io.Writer) error {
	version, commit, date := "(devel)", "unknown commit", "unknown date"
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.time":
				date = s.Value
			}
		}
	}
	_, err := fmt.Fprintf(w, "retry %s (%s, %s) %s %s/%s\n", version, commit, date, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
