package cli

// This file prints help, manual page, completions and version.

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/cli/option"
)

// pages is what is made from the flags of all grammars.
func pages() manual.Pages {
	modes := map[string][]manual.Flag{}
	for word, m := range ownModes() {
		modes[word[2:]] = manual.FlagsOf(reflect.TypeOf(m).Elem())
	}
	return manual.New(option.Table(), modes)
}

func printPage(w io.Writer, o *option.Options) (err error) {
	p := pages()
	page := ""
	switch {
	case o.About == "man":
		_, _, date := build()
		day, _, _ := strings.Cut(date, "T")
		page = p.Man(day)
	case o.Completion != "":
		page = p.Completion(o.Completion)
	case o.HelpOn != "":
		page = p.ModeHelp(o.HelpOn)
	case o.About == "-h":
		page = p.Brief()
	default:
		page = p.Help()
	}
	_, err = io.WriteString(w, page)
	return err
}

// build is what the Go tool records in every binary, so that go install, go build and a
// release say the same of the same source. commit and date are "" outside of a clone.
func build() (version, commit, date string) {
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.time":
				date = s.Value
			}
		}
	}
	return cmp.Or(version, "(devel)"), commit, date
}

func printVersion(w io.Writer, _ *option.Options) error {
	version, commit, date := build()
	_, err := fmt.Fprintf(w, "retry %s (%s, %s) %s %s/%s\n",
		version, cmp.Or(commit, "unknown commit"), cmp.Or(date, "unknown date"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
