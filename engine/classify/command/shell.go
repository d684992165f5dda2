package command

import (
	"slices"
	"strings"
)

// shellCommand returns the simple command of sh -c, without assignments before it, exec and
// redirections. It is nil for any other script, a script file and interactive shells.
func shellCommand(args []string) []string {
	command := false
	for len(args) > 0 && len(args[0]) > 1 && strings.IndexByte("-+", args[0][0]) >= 0 {
		flag := args[0]
		args = args[1:]
		if flag == "--" {
			break
		}
		if strings.HasPrefix(flag, "--") {
			continue // --norc and the like
		}
		command = command || flag[0] == '-' && strings.Contains(flag, "c")
		if strings.HasSuffix(strings.ToLower(flag), "o") && len(args) > 0 {
			args = args[1:] // -o pipefail, -euo pipefail
		}
	}
	if !command || len(args) == 0 {
		return nil
	}
	words := splitSimple(args[0])
	for len(words) > 0 && (assigns(words[0]) || words[0] == "exec" || words[0] == "command") {
		words = words[1:]
	}
	if len(words) > 0 && slices.Contains(shellWords, words[0]) {
		return nil
	}
	return words
}

// shellWords begin a compound command, or name a builtin whose failure is the script's.
var shellWords = []string{
	"if", "for", "while", "until", "case", "select", "function", "{", "}", "!", "[[", "((",
	"eval", ".", "source", "exit", "return", "trap", "set", "cd", "export", "time", "coproc", "then", "do",
}

// splitSimple splits one simple command into words as a POSIX shell does (Shell Command
// Language, 2.2 and 2.7); nil for anything else. It drops redirections, and does not expand
// parameters.
func splitSimple(line string) (words []string) {
	line = strings.TrimSpace(line)
	var word []byte
	begun := false  // a word, maybe an empty quoted one
	target := false // the next word is that of a redirection
	quoted := false // by "
	endWord := func() {
		if begun && !target {
			words = append(words, string(word))
		}
		target = target && !begun
		word, begun = word[:0], false
	}
	for i := 0; i < len(line); i++ {
		c, rest := line[i], line[i+1:]
		switch {
		case c == '`', c == '$' && strings.HasPrefix(rest, "("), c == '\\' && rest == "":
			return nil
		case c == '"':
			quoted, begun = !quoted, true
		case c == '\\' && (!quoted || strings.IndexByte("$`\"\\", rest[0]) >= 0):
			i++
			if rest[0] != '\n' {
				word, begun = append(word, rest[0]), true
			}
		case quoted:
			word = append(word, c)
		case c == ' ' || c == '\t':
			endWord()
		case c == '\'':
			inside, _, closed := strings.Cut(rest, "'")
			if !closed {
				return nil
			}
			word, begun = append(word, inside...), true
			i += len(inside) + 1
		case c == '>' || c == '<':
			if strings.HasPrefix(rest, "(") || strings.HasPrefix(line[i:], "<<") { // a process or a here-document
				return nil
			}
			if strings.Trim(string(word), "0123456789") == "" { // a file descriptor
				word, begun = word[:0], false
			}
			endWord()
			target = true
			i += len(rest) - len(strings.TrimLeft(rest, ">&|"))
		case strings.IndexByte("|&;\n()", c) >= 0:
			return nil
		case c == '#' && !begun: // a comment
			if strings.Contains(rest, "\n") {
				return nil
			}
			i = len(line)
		default:
			word, begun = append(word, c), true
		}
	}
	endWord()
	if quoted {
		return nil
	}
	return words
}
