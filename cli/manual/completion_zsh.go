package manual

import (
	"strings"
)

// The script serves as an autoloaded file of fpath and through source. After
// the flags it does what zsh's own precommands such as nice do: a command's
// name, then that command's completion.
const (
	zshHead = `
_retry() {
    _arguments -s -S : \
`
	zshTail = `        '(-)1: :_command_names -e' \
        '*:: :_normal -p retry'
}

if [[ $funcstack[1] == _retry ]]; then
    _retry "$@"
else
    compdef _retry retry
fi
`
)

// quoteZsh protects what has a meaning in a specification of _arguments and
// in single quotes.
func quoteZsh(s string) string {
	return strings.NewReplacer(`'`, `'\''`, `\`, `\\`, `[`, `\[`, `]`, `\]`, `:`, `\:`).Replace(s)
}

func completeInZsh(b *strings.Builder, flags []Flag) {
	b.WriteString(zshHead)
	for _, f := range flags {
		exclude := "(" + strings.Join(names(f), " ") + ")"
		if f.IsSlice() {
			exclude = "*"
		}
		value := ""
		if f.takesValue() {
			value = ":" + quoteZsh(f.PlaceHolder) + ":" + zshAction(f)
		}
		if f.Short != 0 {
			mark := ""
			if value != "" {
				mark = "+"
			}
			zshLine(b, exclude+"-"+string(f.Short)+mark, f, value)
		}
		mark := ""
		if value != "" {
			mark = "="
		}
		zshLine(b, exclude+"--"+f.Name+mark, f, value)
	}
	b.WriteString(zshTail)
}

func zshLine(b *strings.Builder, spec string, f Flag, value string) {
	b.WriteString("        '" + spec + "[" + quoteZsh(summary(f)) + "]" + value + "' \\\n")
}

// zshAction says how a value is completed; a blank only says what it is.
func zshAction(f Flag) string {
	switch words := f.Words; {
	case wantsFile(f):
		return "_files"
	case len(words) > 0:
		return "(" + quoteZsh(strings.Join(words, " ")) + ")"
	}
	return " "
}
