package manual

import (
	"fmt"
	"strings"
)

// The flags are read as the program itself reads them. Fish then completes
// what is left as if it stood there alone.
const fishScript = `
# __retry_command prints the command's words before the cursor. Its status is
# 1 while there are only flags, and 2 where a flag's value is due.
function __retry_command
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        set -l word $words[1]
        set -l due 1
        switch $word
            case --
                set -e words[1]
                string join \n -- $words
                return 0
            case @LONG@
                set due 2
            case '--*'
            case '-*'
                string match -qr -- '^-[@BOOL@]*[@VALUE@]$' $word; and set due 2
            case '*'
                string join \n -- $words
                return 0
        end
        if test $due = 2
            set -e words[1]
            set -q words[1]; or return 2
        end
        set -e words[1]
    end
    return 1
end

function __retry_in_flags
    not __retry_command >/dev/null
end

function __retry_complete_command
    set -l words (__retry_command)
    switch $status
        case 1
            string match -q -- '-*' (commandline -ct); and return
        case 2
            return
    end
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

complete -c retry -f
complete -c retry -x -a '(__retry_complete_command)'
`

func quoteFish(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}

func completeInFish(b *strings.Builder, flags []Flag) {
	strings.NewReplacer(
		"@LONG@", strings.Join(longs(flags), " "),
		"@BOOL@", shorts(flags, false), "@VALUE@", shorts(flags, true),
	).WriteString(b, fishScript)
	for _, f := range flags {
		b.WriteString("complete -c retry -n __retry_in_flags")
		if f.Short != 0 {
			b.WriteString(" -s " + string(f.Short))
		}
		b.WriteString(" -l " + f.Name)
		switch words := f.Words; {
		case wantsFile(f):
			b.WriteString(" -r -F")
		case len(words) > 0:
			b.WriteString(" -x -a '" + quoteFish(strings.Join(words, " ")) + "'")
		case f.takesValue():
			b.WriteString(" -x")
		}
		fmt.Fprintf(b, " -d '%s'\n", quoteFish(summary(f)))
	}
}
