package cli

// This file prints help, manual page, completions and version.

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
)

// pages is what is made from kong's model of all flags, each mode's by itself.
func pages() (manual.Pages, error) {
	run, err := option.RunModel()
	modes := map[string][]*kong.Flag{}
	for _, m := range ownModes {
		flags, wrong := option.Model(m.make())
		modes[m.word[2:]] = flags
		err = errors.Join(err, wrong)
	}
	return manual.New(run, modes), err
}

func printPage(w io.Writer, o *option.Options) (err error) {
	p, err := pages()
	if err != nil {
		return err
	}
	page, columns := "", 0
	if f, isFile := w.(*os.File); isFile {
		columns = mode.WidthOf(f)
	}
	switch {
	case o.About == "man":
		_, _, date := build()
		day, _, _ := strings.Cut(date, "T")
		page = p.Man(day)
	case o.Completion != "":
		page = p.Completion(string(o.Completion))
	case o.HelpOn != "":
		if page = p.Topic(o.HelpOn, columns); page == "" {
			page = p.Topic(option.Spelled(o.HelpOn), columns)
		}
		if page == "" {
			return noTopic(o.HelpOn, p.Sections())
		}
	case o.About == "-h":
		page = p.Brief(columns)
	default:
		page = p.Help(columns)
	}
	_, err = io.WriteString(w, page)
	return err
}

// noTopic is the error for a word that --help knows nothing about.
func noTopic(word string, sections []string) error {
	meant := ""
	if near := option.Suggest(word); len(near) > 0 {
		meant = fmt.Sprintf(" (did you mean %q?)", near[0])
	} else if here := option.CalledHere(word); here != "" {
		meant = fmt.Sprintf(" (here that is --%s: retry --help %[1]s)", here)
	}
	return option.Usage("--help",
		fmt.Errorf("%q is no section and no flag%s; the sections are %s", word, meant, strings.Join(sections, ", ")))
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
		version, cmp.Or(commit, "unknown commit"), cmp.Or(date, "unknown date"), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	return err
}
