package cli

// This file refuses a --shell that would run something else than was meant, and succeed.

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/text"
)

// shellNames are programs that take -c themselves.
var shellNames = []string{
	"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "nu", "pwsh", "powershell",
}

func isShell(word string) bool { return slices.Contains(shellNames, filepath.Base(word)) }

// plainBytes are those of a word that a shell takes as it is. A name with a value is such
// a word.
const plainBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:+,@%=-"

func isPlain(script string) bool { return strings.Trim(script, plainBytes) == "" }

// checkShell refuses -c STRING with words behind it if STRING is one plain word, which
// uses none of them, --shell with the name of a shell, and two scripts. The error shows the
// line that was meant. cmd of Windows adds the words to STRING.
func checkShell(o *option.Options, argv []string) error {
	var scripts []string
	for _, s := range o.Settings {
		if s.Flag.Is("shell") {
			scripts = append(scripts, s.Value)
		}
	}
	if len(scripts) == 0 || runtime.GOOS == "windows" {
		return nil
	}
	scripts = slices.Compact(scripts)
	own, words := withoutShell(argv[:len(argv)-len(o.Command)]), o.Command
	script, word := scripts[len(scripts)-1], option.Last(o.Settings, "shell").Word
	named := slices.IndexFunc(scripts, isShell)
	if named < 0 {
		named = slices.IndexFunc(scripts, isPlain)
	}
	switch {
	case named >= 0 && len(scripts) == 2:
		line := append([]string{scripts[named], "-c", scripts[1-named]}, words...)
		return option.Usage(word,
			fmt.Errorf("the shell is /bin/sh, and its script is given twice; to use %s write: %s",
				filepath.Base(scripts[named]), lineOf(own, line)))
	case len(scripts) > 1:
		return option.Usage(word, fmt.Errorf("the script is given %d times, and only the last would run; write one, "+
			"as in -c 'make clean && make'", len(scripts)))
	case len(words) == 0 || !isPlain(script):
		return nil
	case isShell(script):
		line := append([]string{script}, words...)
		return option.Usage(word,
			fmt.Errorf("the shell is /bin/sh, and %q would be all that it runs; write: %s", script, lineOf(own, line)))
	}
	line := "retry"
	if len(own) > 0 {
		line += " " + shown(own)
	}
	return option.Usage(word, fmt.Errorf("%q is all that the shell would run; one command line is one word: %s -c %s",
		script, line, text.ShellQuote(shown(append([]string{script}, words...)))))
}

// withoutShell leaves -c and --shell out of flags, and the "--" behind them.
func withoutShell(flags []string) (others []string) {
	for i := 0; i < len(flags); i++ {
		word := flags[i]
		switches, rest, isCluster := strings.Cut(word, "c")
		switch {
		case word == "--" || strings.HasPrefix(word, "--shell="):
		case word == "--shell":
			i++
		case isCluster && len(switches) > 0 && switches[0] == '-' && strings.Trim(switches[1:], "qvhV") == "":
			if switches != "-" {
				others = append(others, switches)
			}
			if rest == "" {
				i++
			}
		default:
			others = append(others, word)
		}
	}
	return others
}
